"""What was noted of one walk."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devicelint.domain import values
from devicelint.domain.devices import Device, Unsure
from devicelint.domain.history import Step
from devicelint.interpreter.torch.reveal import HOST_MEMORY
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile
from devicelint.views.graph.chart import NodeKind, Sight
from devicelint.views.graph.noted import NotedMove, NotedValue, site_of, values_of
from devicelint.views.graph.picture import Picture
from devicelint.views.graph.tree import Tree


class SightNotes:
    """Values, moves and reads, each once for every device."""

    def __init__(self) -> None:
        self._values: dict[tuple[cst.CSTNode, str, str], NotedValue] = {}
        self._moves: dict[tuple[cst.CSTNode, str, str], NotedMove] = {}
        self._reads: dict[cst.CSTNode, dict[str, Device]] = {}
        self._last: dict[cst.CSTNode, Device] = {}
        self._defined: dict[tuple[object, str], NotedValue] = {}
        self._born: dict[object, NotedValue] = {}
        self._used: dict[cst.CSTNode, dict[NotedValue | NotedMove, None]] = {}

    def read(self, site: cst.CSTNode, device: Device) -> None:
        """An expression was evaluated."""
        self._last[site] = device
        is_name = isinstance(site, (cst.Name, cst.Attribute))
        if is_name and not isinstance(device, Unsure) and device != HOST_MEMORY:
            self._reads.setdefault(site, {})[str(device)] = device

    def device_of(self, site: cst.CSTNode) -> Device | None:
        """Where the value of an expression was just now; None where nobody knows."""
        device = self._last.get(site)
        return None if isinstance(device, Unsure) else device

    def define(self, scope: object, name: str, value: NotedValue) -> None:
        """A name means a value from here on."""
        self._defined[scope, name] = value

    def defined(self, scopes: Iterable[object], name: str) -> NotedValue | None:
        """What a name means, in the first of the scopes that know it."""
        found = (self._defined.get((scope, name)) for scope in scopes)
        return next((value for value in found if value is not None), None)

    def born_of(self, step: Step | None) -> NotedValue | None:
        """The value that a step first gave."""
        return None if step is None else self._born.get(step.site)

    def use(self, statement: cst.CSTNode, value: NotedValue) -> None:
        """A statement reads a value."""
        self._used.setdefault(statement, {})[value] = None

    def value(
        self, site: cst.CSTNode, name: str, device: Device, value: values.Value
    ) -> NotedValue:
        """A name is given a value; the same one, where that was seen before."""
        noted = NotedValue(site, name, device, kind_of(value))
        return self._values.setdefault((site, name, str(device)), noted)

    def derive(self, value: NotedValue, statement: cst.CSTNode, step: Step | None) -> None:
        """A value comes out of a statement: of the move in it, or of all that it reads."""
        used = self._used.get(statement, {})
        value.step = value.step or step
        born = value if step is None else self._born.setdefault(step.site, value)
        for one in used:
            if step is not None and isinstance(one, NotedMove) and one.site is step.site:
                self._take(one, value)
                return
        value.inputs.update(used)
        if not used and born is not value:
            value.inputs[born] = None

    def move(
        self,
        call: tuple[cst.CSTNode, str],
        receiver: tuple[cst.CSTNode, str],
        way: tuple[Device | None, Device],
    ) -> NotedMove:
        """A call of a method moves what it was called on; the same move, where that was seen."""
        noted = NotedMove(*call, receiver[0], " ".join(receiver[1].split()), *way)
        return self._moves.setdefault((noted.site, str(way[0]), str(way[1])), noted)

    def connect(self, move: NotedMove, source: NotedValue | None, statement: cst.CSTNode) -> None:
        """Note what a move takes; the statement reads what it gives."""
        if source is not None and str(source.device) == str(move.origin):
            move.source = move.source or source
        used = self._used.setdefault(statement, {})
        if source is not None:
            used.pop(source, None)
        move.beside = used
        used[move] = None

    def discard(self, site: object) -> None:
        """Nobody takes what a move gives."""
        for (moved, _, _), move in self._moves.items():
            if moved is site:
                move.is_discarded = True

    def moves_in(self, statement: cst.CSTNode) -> bool:
        """Whether a statement moves anything."""
        return any(isinstance(one, NotedMove) for one in self._used.get(statement, ()))

    def asks(self, statement: cst.CSTNode) -> bool:
        """Whether a statement brings something to Python's own memory."""
        return any(
            isinstance(one, NotedMove) and one.target == HOST_MEMORY
            for one in self._used.get(statement, ())
        )

    def _take(self, move: NotedMove, value: NotedValue) -> None:
        if str(value.device) != str(move.target):
            return
        before = move.result
        if before is not None and before is not value and before.site is move.site:
            self._values.pop((before.site, before.name, str(before.device)), None)
        move.result = value

    # -- the picture -----------------------------------------------------------------------

    def sight(self, machine: str, source: SourceFile, tree: Tree) -> Sight:
        """What all that was noted gives."""
        for move in self._moves.values():
            for one in move.name_ends():
                self._values.setdefault((one.site, one.name, str(one.device)), one)
        self._forget_what_stays_on_the_host()
        spans = locate(tree.module, source, self._sites())
        return Picture(spans, tree).sight(
            machine, self._values.values(), self._moves.values(), self._reads
        )

    def _sites(self) -> list[cst.CSTNode]:
        """Whatever has a place in the picture."""
        sites = [*self._reads, *(site for site, _, _ in (*self._values, *self._moves))]
        sites += [move.since for move in self._moves.values() if move.since is not None]
        return sites + [
            site_of(value.step) for value in self._values.values() if value.step is not None
        ]

    def _forget_what_stays_on_the_host(self) -> None:
        """Arrays that nothing of a device is made from, nor they from it, are no concern."""
        met = {end for move in self._moves.values() for end in (move.source, move.result)}
        for one in self._values.values():
            for given in values_of(one):
                if not (_is_on_host(one) and _is_on_host(given)):
                    met |= {one, given}
        self._values = {
            key: one for key, one in self._values.items() if one in met or not _is_on_host(one)
        }


def _is_on_host(one: NotedValue) -> bool:
    return one.device == HOST_MEMORY


def kind_of(value: values.Value) -> NodeKind:
    """What a value is in a picture."""
    match value:
        case values.Module():
            return NodeKind.MODULE
        case values.DeviceHandle() | values.DeviceIndex():
            return NodeKind.CHOICE
        case values.Tensor() | values.Placed() | values.Distribution():
            return NodeKind.TENSOR
        case values.Const() | values.HostValue() | values.Array():
            return NodeKind.HOST
        case _:
            return NodeKind.DATA
