"""What became of a program on one machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Ending: TypeAlias = Literal["passed", "device error", "other error"]

MACHINES = (0, 1, 2)
"""How many GPUs the machines have on which each program runs."""

NO_ACCELERATOR = "no such accelerator"
"""The kind of an error that says that the machine lacks what the program asks for."""


@dataclass(frozen=True)
class DeviceError:
    """A device error, and the lines of the program that have to do with it.

    Attributes:
        kind: what runtime_guard calls errors with such a text: "operator", "numpy".
        message: its first line.
        operation: the function of torch that raised; empty where none was seen.
        trace: the lines of the program in the traceback, the innermost last.
        causes: the lines that runtime_guard names when it explains the error.
        culprits: where the operands were made, moved, or put in their place.
        callers: the lines that called the functions in which the operands were made.
    """

    kind: str
    message: str
    operation: str
    trace: tuple[int, ...]
    causes: frozenset[int] = frozenset()
    culprits: frozenset[int] = frozenset()
    callers: frozenset[int] = frozenset()

    @property
    def line(self) -> int:
        """The innermost line of the program that raised; 0 where none is known."""
        return self.trace[-1] if self.trace else 0

    def is_like(self, other: DeviceError) -> bool:
        """Whether another run ended at the same place by the same error."""
        return (self.trace, self.message) == (other.trace, other.message)


@dataclass(frozen=True)
class Run:
    """A run of a program on one machine.

    Attributes:
        gpus: how many GPUs the machine had.
        ending: how the run ended.
        reached: the parts of the program that ran.
        error: the device error that ended it.
        said: what another error said, and where.
        caught: the lines of device errors that the program caught itself.
        flags: what argparse gave, and the program made of it, by the names of the options.
        conditions: what each condition that was tested came to, by what is written there.
        losses: the bytes of each tensor of the CPU from which it went back.
    """

    gpus: int
    ending: Ending
    reached: frozenset[int]
    error: DeviceError | None = None
    said: str = ""
    caught: frozenset[int] = frozenset()
    flags: Mapping[str, object] = field(default_factory=dict)
    conditions: Mapping[str, frozenset[bool]] = field(default_factory=dict)
    losses: tuple[bytes, ...] = ()
