"""What a chart holds: frozen values, whose places are characters of the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from devicelint.domain.devices import Device
from devicelint.finding import Span

EVERYWHERE = "on every machine"


class NodeKind(Enum):
    """What a value is, as far as a picture distinguishes them."""

    TENSOR = "tensor"
    MODULE = "module"
    DATA = "data"
    """A loader, a batch, a container: more than one tensor."""
    HOST = "host"
    """An array or a number, which Python keeps."""
    UNNAMED = "unnamed"
    """What an expression gives, on its way to elsewhere."""
    CHOICE = "choice"
    """No value of a device, but what names one."""


@dataclass(frozen=True)
class Value:
    """A name that was given a value, or a place that gives an unnamed one."""

    name: str
    span: Span
    device: Device
    kind: NodeKind
    function: str
    """Where it stands, such as `train` or `Net.forward`; empty for the file's own statements."""
    inputs: tuple[int, ...] = ()
    """What it was made from, by the number among the values."""
    story: str = ""
    """How it came to its device, such as "moved to cuda:0 here"."""
    since: Span | None = None
    """The place that the story calls "here"."""


@dataclass(frozen=True)
class MoveEdge:
    """Something that goes from one device to another."""

    span: Span
    what: str
    method: str
    origin: Device | None
    """None where nobody knows."""
    target: Device
    function: str
    source: int | None = None
    """What is moved, by the number among the values."""
    result: int | None = None
    """What comes out of it."""
    since: Span | None = None
    """What put it where it was."""
    is_discarded: bool = False


@dataclass(frozen=True)
class Read:
    """An expression, and where its value is."""

    span: Span
    devices: tuple[Device, ...]


@dataclass(frozen=True)
class Sight:
    """What there is to see on one machine."""

    machine: str
    values: tuple[Value, ...] = ()
    moves: tuple[MoveEdge, ...] = ()
    reads: tuple[Read, ...] = ()

    def beside(self, other: Sight) -> Sight:
        """This, and what another program of the same file does on that machine."""
        shift = len(self.values)
        return replace(
            self,
            values=self.values + tuple(_shifted(one, shift) for one in other.values),
            moves=self.moves
            + tuple(
                replace(
                    one,
                    source=None if one.source is None else one.source + shift,
                    result=None if one.result is None else one.result + shift,
                )
                for one in other.moves
            ),
            reads=self.reads + other.reads,
        )


def _shifted(value: Value, shift: int) -> Value:
    return replace(value, inputs=tuple(one + shift for one in value.inputs))


@dataclass(frozen=True)
class Chart:
    """What there is to see of a file, machine by machine; the first is the one to look at."""

    sights: tuple[Sight, ...]

    @classmethod
    def of(cls, programs: Iterable[tuple[Sight, ...]]) -> Chart:
        """The chart of a file from those of its programs.

        Of machines on which everything is the same, the first is shown.
        """
        parts = [part for part in programs if part]
        machines = dict.fromkeys(sight.machine for part in parts for sight in part)
        sights: dict[Sight, Sight] = {}
        for machine in machines:
            whole = Sight("")
            for part in parts:
                known = (sight for sight in part if sight.machine == machine)
                whole = whole.beside(next(known, part[0]))
            sights.setdefault(whole, replace(whole, machine=machine))
        if len(sights) > 1:
            return cls(tuple(sights.values()))
        only = next(iter(sights.values()), Sight(""))
        return cls((replace(only, machine=EVERYWHERE),))
