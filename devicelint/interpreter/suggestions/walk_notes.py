"""What a walk notes for those who write fixes: moves by name, moves side by side, guarded moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import libcst as cst

from devicelint.domain.devices import CPU, Device, may_be_accelerator
from devicelint.domain.events import Transfer
from devicelint.domain.history import Site, Step
from devicelint.domain.values import Batch, Module, Tensor, Value
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.hooks import EVERY_EVENT, Analysis, analysis
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.facts.name_uses import reads_of


@dataclass(frozen=True)
class MovedName:
    """`net.cuda()` or `net = net.cuda()`, as a statement."""

    name: str
    statement: cst.Expr | cst.Assign
    call: cst.Call
    target: Device
    frame: Frame
    moment: int
    built: Site
    """The call that built the module."""


class UnmovedPart(NamedTuple):
    """What stays in `x.to(device), y`: its place, the move beside it, and where that goes."""

    site: cst.BaseExpression
    move: cst.Call
    device: Device


@analysis
class NamedMoves(Analysis):
    """Notes the statements that move modules by their names."""

    serves = EVERY_EVENT

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.moves: dict[Site, MovedName] = {}

    def on_transfer(self, transfer: Transfer) -> None:
        """Remember that a statement moves the module that a name stands for."""
        run, call, target = self.run, transfer.site, transfer.target
        if not isinstance(transfer.receiver, Module) or target is None or not run.frame.is_checked:
            return
        place, statement = transfer.receiver_site, run.frame.statement
        if not isinstance(call, cst.Call) or not isinstance(place, cst.Name):
            return
        if not isinstance(statement, (cst.Expr, cst.Assign)) or statement.value is not call:
            return
        name = place.value
        if isinstance(statement, cst.Expr) or list(assigned_names(statement)) == [name]:
            where = (run.frame, run.moment, transfer.receiver.since.site)
            self.moves[statement] = MovedName(name, statement, call, target, *where)


def assigned_names(statement: cst.Assign) -> Iterator[str]:
    """The names that an assignment binds; nothing in the place of each other target."""
    for target in statement.targets:
        yield target.target.value if isinstance(target.target, cst.Name) else ""


@analysis
class SiblingMoves(Analysis):
    """Notes the statement that moves a name, for the names that were bound together with it."""

    serves = EVERY_EVENT

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._last: Transfer | None = None
        self.moved: dict[Site, tuple[cst.Assign, int]] = {}
        """The statement that moves a name, and its moment, by the one that bound the name."""

    def on_transfer(self, transfer: Transfer) -> None:
        """The value of an assignment may be this move."""
        self._last = transfer

    def on_assignment(self, statement: cst.Assign) -> None:
        """Remember the statement by the one that bound the name which it moves."""
        transfer, value, frame = self._last, statement.value, self.run.frame
        if transfer is None or not (transfer.site is value or type(value) is cst.Tuple):
            return
        if not isinstance(transfer.receiver_site, cst.Name):
            return
        given = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value]
        binding = frame.bindings.get(transfer.receiver_site.value)
        if binding is not None and any(transfer.site is one for one in given):
            self.moved[binding] = (statement, self.run.moment)


@analysis
class AttributeAssignments(Analysis):
    """Notes the statement of each attribute that was assigned to."""

    serves = EVERY_EVENT

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.statements: dict[Site, Site] = {}

    def on_attribute_assigned(
        self, target: cst.Attribute, statement: cst.Assign | cst.AnnAssign
    ) -> None:
        """Remember the statement."""
        self.statements[target] = statement


@analysis
class ConditionalMoves(Analysis):
    """Notes the moves that are made under a condition that the code cannot tell."""

    serves = EVERY_EVENT

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.moves: set[Site] = set()
        self.here: set[Site] = set()
        """Those of them whose function has that condition itself, and not who calls it."""

    def on_demanded(self, site: cst.CSTNode) -> None:
        """Remember what surrounds the move."""
        if self.run.assumptions:
            self.moves.add(site)
        if self.run.assumptions > self.run.frame.entered_under:
            self.here.add(site)


@analysis
class UnmovedParts(Analysis):
    """Notes the parts of tuples that stay where others are moved."""

    serves = EVERY_EVENT

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.parts: dict[Step, UnmovedPart] = {}
        """By the step that put each where it is."""

    def on_tuple(self, node: cst.Tuple, items: Sequence[Value]) -> None:
        """Remember what `x.to(device), y` leaves on the CPU, and the move beside it.

        `x, x.to(device)` is a pair on purpose, and the parts of an argument meet at once.
        """
        if not self.run.frame.is_checked or len(items) != len(node.elements):
            return
        if isinstance(reads_of(self.run.module).around.get(node), cst.Arg):
            return
        sites = [element.value for element in node.elements]
        moved = next(filter(None, map(_moved, sites, items)), None)
        if moved is None:
            return
        call, of, device = moved
        for site, value in zip(sites, items, strict=True):
            if not isinstance(value, (Tensor, Batch)) or value.device != CPU:
                continue
            if not site.deep_equals(of):
                self.parts[value.since] = UnmovedPart(site, call, device)


def _moved(
    site: cst.BaseExpression, value: Value
) -> tuple[cst.Call, cst.BaseExpression, Device] | None:
    """The move that an expression is, what it moves, and where to."""
    if not (isinstance(site, cst.Call) and isinstance(site.func, cst.Attribute)):
        return None
    if not isinstance(value, (Tensor, Batch)) or value.since.site is not site:
        return None
    if site.func.attr.value not in MOVES or not may_be_accelerator(value.device):
        return None
    return site, site.func.value, value.device
