"""Guards that ask the same, together: what they come to is decided once for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, Device, Known, Opaque
from devicelint.domain.events import Event, Transfer
from devicelint.domain.guard_events import ChosenType, Condition, Guard, GuardedMoves
from devicelint.domain.history import Site
from devicelint.interpreter.analyses.guards.bindings import settled
from devicelint.interpreter.analyses.guards.conditions import Asked, around, asks_machine
from devicelint.interpreter.analyses.guards.devices import (
    condition_of,
    device_held,
    free_device_name,
)
from devicelint.interpreter.analyses.guards.guards import Moves, guards_of
from devicelint.interpreter.analyses.guards.types import chosen_types
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.name_uses import Reads, last_name, reads_of

Found = tuple[Asked, Guard | ChosenType]


@analysis
class GuardGroups(Analysis):
    """Notes the moves of a file, and holds those together that are made under one condition."""

    serves = frozenset({GuardedMoves})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._moves: Moves = {}
        self._placed: set[Site] = set()
        """The moves of what has been moved before: without them it stays there, not on the CPU."""

    def on_transfer(self, transfer: Transfer) -> None:
        """Remember the move; it counts as it was made last."""
        if not self.run.frame.is_checked:
            return
        if transfer.site not in self._moves and _is_placed(transfer.origin):
            self._placed.add(transfer.site)
        self._moves[transfer.site] = transfer

    def at_end(self) -> Iterator[Event]:
        """For each condition, the moves that are made under it and nothing else."""
        run = self.run
        if not run.world.accelerators or not any(map(_is_written_out, descendants(run.module))):
            return
        reads = reads_of(run.module)
        groups: dict[tuple[Site, str], list[Found]] = {}
        for asked, guard in guards_of(run, reads, self._moves):
            if not self._placed.isdisjoint(guard.moves) and not _goes_back(guard):
                continue
            groups.setdefault(asked.key, []).append((asked, guard))
        for asked, chosen in chosen_types(run, reads):
            groups.setdefault(asked.key, []).append((asked, chosen))
        found = (_decided(run, reads, group, self._moves) for group in groups.values())
        yield from _one_by_one(reads, [one for one in found if one is not None])


def _goes_back(guard: Guard) -> bool:
    """Whether the other branch says that it goes to the CPU, wherever it was."""
    assert isinstance(guard.site, cst.CSTNode)
    return any(
        isinstance(one, cst.Call) and last_name(one.func) == "cpu"
        for one in descendants(guard.site)
    )


def _is_placed(device: Device | None) -> bool:
    """Whether the program itself has chosen a device, which may be another than the CPU."""
    return isinstance(device, Opaque) or (isinstance(device, Known) and device != CPU)


def _is_written_out(node: cst.CSTNode) -> bool:
    """Whether it is a move that says itself where it goes."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("cuda" | "xpu"))):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name("to")), args=args):
            given = (inner for one in args for inner in descendants(one))
            return any(isinstance(one, cst.SimpleString) for one in given)
        case cst.Attribute(attr=cst.Name(name), value=owner):
            return name.endswith("Tensor") and last_name(owner) == "cuda"
        case _:
            return False


def _one_by_one(reads: Reads, found: list[GuardedMoves]) -> Iterator[GuardedMoves]:
    """Those that do not define the same name twice: the others come once that is there.

    What asks for an accelerator by a flag shares the device of what asks torch directly.
    """
    at_top = any(one.condition.known_after is None for one in found if _asks_torch(one))
    named: list[GuardedMoves] = []
    for one in sorted(found, key=lambda one: not _asks_torch(one)):
        shared = at_top and _asks_torch(one)
        defines = one.held is None and not shared
        if not defines or not any(_meets(reads, one, other) for other in named):
            named.append(one)
            yield replace(one, at_top=shared)


def _asks_torch(one: GuardedMoves) -> bool:
    return one.condition.asks_machine and one.held is None and not one.condition.prefix


def _meets(reads: Reads, one: GuardedMoves, other: GuardedMoves) -> bool:
    """Whether two would define one name where both are seen."""
    if one.name != other.name or other.held is not None:
        return False
    return (
        one.scope is other.scope
        or _stands_in(reads, other, one.scope)
        or _stands_in(reads, one, other.scope)
    )


def _stands_in(reads: Reads, one: GuardedMoves, scope: Site) -> bool:
    """Whether a guard stands in a function."""
    sites = (*map(_site, one.guards), *map(_site, one.types))
    inner = isinstance(scope, cst.FunctionDef)
    return inner and any(scope in set(around(reads, site)) for site in sites)


def _decided(run: Run, reads: Reads, found: list[Found], transfers: Moves) -> GuardedMoves | None:
    """What is to be reported of the guards that ask the same."""
    asked = found[0][0]
    guards = tuple(one for _, one in found if isinstance(one, Guard))
    types = tuple(one for _, one in found if isinstance(one, ChosenType))
    if asks_machine(run, asked.expression):
        condition = Condition(asked.code, asks_machine=True)
        if asked.code.startswith("not "):
            return None
    else:
        place = settled(reads, asked)
        if place is None:
            return None
        guards = tuple(one for one in guards if place.precedes(reads, _node(one.site)))
        types = tuple(one for one in types if place.precedes(reads, _node(one.site)))
        condition = condition_of(run, reads, asked, place, (*guards, *types))
    moves = [transfers[move] for guard in guards for move in guard.moves]
    device = _one_device(moves) if moves or types or condition.asks_machine else None
    sites = [_node(one) for one in (*map(_site, guards), *map(_site, types))]
    if device is None or not sites:
        return None
    held = device_held(run, reads, condition, sites, device)
    name = free_device_name(run, reads, condition, sites)
    return GuardedMoves(sites[0], condition, asked.scope, device, guards, types, held, name)


def _site(one: Guard | ChosenType) -> Site:
    return one.site


def _node(site: Site) -> cst.CSTNode:
    assert isinstance(site, cst.CSTNode)
    return site


def _one_device(moves: list[Transfer]) -> str | None:
    """The one device that moves go to: "cuda", and "cuda:1" only where the code says so."""
    devices = {move.target for move in moves} or {Known("cuda")}
    kinds = {(one.type, one.index or 0) for one in devices if isinstance(one, Known)}
    if len(kinds) != 1:
        return None
    kind, index = kinds.pop()
    return f"{kind}:{index}" if index or Known(kind) not in devices else kind
