"""One call of a known function, its arguments sorted by what they have to do with devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from devicelint.domain.devices import Device
from devicelint.domain.events import Operand
from devicelint.domain.values import (
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.knowledge import Form, Result, Role, Signature, Slot


@dataclass(slots=True)
class OperandGroup:
    """The operands of one device variable of a signature."""

    operands: list[tuple[Operand, bool]] = field(default_factory=list)
    unknown: bool = False
    may_differ: bool = False

    @property
    def plain(self) -> list[Operand]:
        """The operands alone."""
        return [operand for operand, _ in self.operands]


@dataclass(slots=True)
class Application:
    """One call of a known function: its arguments sorted by what they have to do with devices."""

    signature: Signature
    site: cst.Call
    groups: dict[str, OperandGroup] = field(default_factory=dict)
    indices: list[tuple[str, Operand]] = field(default_factory=list)
    device: Device | None = None
    rank: bool | None = None
    dimensions: int = 0
    """How many dimensions its sizes are known to name."""
    data: Value | None = None
    dtype: Value | None = None
    receiver: Value | None = None
    generator: Argument | None = None
    varies: bool = False
    flags: list[Slot] = field(default_factory=list)
    """Those that are given and true."""
    asks_grad: bool = False
    may_state: bool = False
    """Whether the caller's keywords may say on which device a tensor is made."""
    left: int = 0
    """How many dimensions the one that is named leaves for sure: `sum(1)` needs two, takes one."""

    def group(self, name: str) -> OperandGroup:
        """The group of a device variable, begun where there is none yet."""
        return self.groups.setdefault(name, OperandGroup())

    @property
    def operands(self) -> Iterator[Operand]:
        """The operands of all groups."""
        return (operand for group in self.groups.values() for operand, _ in group.operands)

    def as_asked(self, result: Result) -> Result:
        """The result with what the flags of the call make of it, in the order of the parameters."""
        added: tuple[Result, ...] = ()
        for parameter in self.signature.parameters:
            slot = parameter.slot
            if slot is None or slot.brings is None or not any(one is slot for one in self.flags):
                continue
            if slot.role is Role.GIVES:
                result = slot.brings
            else:
                added += (slot.brings,)
        if not added:
            return result
        items = result.items if result.form is Form.TUPLE else (result,)
        return Result(Form.TUPLE, items=(*items, *added))
