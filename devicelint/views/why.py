"""Why the values on one line live where they do: every step that led there, across files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import libcst as cst

from devicelint.domain.events import Assigned, Evaluated, Event, Transfer
from devicelint.domain.history import Site, Step
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    Bound,
    Class,
    Const,
    Flag,
    Function,
    HostValue,
    ImportedName,
    Module,
    ProjectModule,
    Value,
)
from devicelint.domain.worlds import World
from devicelint.finding import Elsewhere, Span
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.torch.reveal import revealed_device
from devicelint.linter.collector import parent_of
from devicelint.linter.locations import located_elsewhere
from devicelint.text.parse import CheckError
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile


@dataclass(frozen=True)
class Account:
    """Where one expression of the line lives, on which machines, and the steps that led there."""

    code: str
    device: str
    machines: tuple[str, ...]
    steps: tuple[Elsewhere, ...]


@dataclass(frozen=True)
class Why:
    """What there is to show of a line; nothing for a line that no path comes to."""

    line: int
    accounts: tuple[Account, ...]


@dataclass(frozen=True)
class _Noted:
    site: cst.CSTNode
    code: str
    device: str
    chain: tuple[tuple[Site, str], ...]


class Explaining:
    """Listens to what the expressions of a line give, and to every move on the way."""

    def __init__(self, nodes: frozenset[cst.CSTNode]) -> None:
        """Ask about some expressions and names of the checked file."""
        self._nodes = nodes
        self._noted: dict[World, dict[_Noted, None]] = {}

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; a walk that is given up is forgotten."""
        noted: dict[_Noted, None] = {}
        before: dict[Site, Step] = {}
        self._noted.pop(parent_of(world) or world, None)
        self._noted[world] = noted

        def listen(event: Event, run: Run) -> None:
            if isinstance(event, Transfer):
                remember(event, run, before)
            elif isinstance(event, (Assigned, Evaluated)) and event.site in self._nodes:
                noted.update(dict.fromkeys(_noted_of(event, run, before)))

        return listen

    def why(
        self, line: int, source: SourceFile, program: Program, imported: Iterable[Program]
    ) -> Why:
        """What was noted, each expression once, in the order of the text."""
        machines: dict[_Noted, list[str]] = {}
        for world, noted in self._noted.items():
            for one in noted:
                machines.setdefault(one, []).append(world.description)
        sites = [_node(site) for one in machines for site, _ in (*one.chain, (one.site, ""))]
        spans = locate(program.tree, source, sites)
        far = located_elsewhere([site for site in sites if site not in spans], imported)
        places = StepPlaces(source, spans, far)
        ordered = sorted(machines, key=lambda one: spans[one.site])
        return Why(line, tuple(places.account(one, machines[one]) for one in ordered))


@dataclass(frozen=True)
class StepPlaces:
    """Where expressions stand, in the checked file and in others."""

    source: SourceFile
    spans: dict[cst.CSTNode, Span]
    far: dict[cst.CSTNode, Elsewhere]

    def line(self, site: Site) -> int | None:
        """The line of the checked file on which an expression begins."""
        span = self.spans.get(site) if isinstance(site, cst.CSTNode) else None
        return None if span is None else self.source.position(span.start).line

    def steps(self, chain: Iterable[tuple[Site, str]]) -> tuple[Elsewhere, ...]:
        """The steps of a history, each at its place."""
        steps = (self._step(_node(site), message) for site, message in chain)
        return tuple(filter(None, steps))

    def account(self, one: _Noted, machines: list[str]) -> Account:
        """What there is to say of one expression."""
        return Account(one.code, one.device, tuple(machines), self.steps(one.chain))

    def _step(self, site: cst.CSTNode, message: str) -> Elsewhere | None:
        if site in self.spans:
            line, column, cell = self.source.location(self.spans[site].start)
            return Elsewhere(self.source.path, line, column, message, cell)
        return replace(self.far[site], message=message) if site in self.far else None


def remember(event: Transfer, run: Run, before: dict[Site, Step]) -> None:
    """What came before a move: the step that had put the receiver where it was."""
    moved = getattr(event.result, "since", None)
    earlier = since(event.receiver, run)
    if isinstance(event.receiver, Module):
        earlier = event.receiver.since
    if earlier is not None and (moved is None or earlier.site is not event.site):
        before[event.site] = earlier


def _noted_of(event: Assigned | Evaluated, run: Run, before: dict[Site, Step]) -> Iterator[_Noted]:
    value, site = event.value, event.site
    if isinstance(value, WITHOUT_PLACE):
        return
    device = revealed_device(run, value)
    code = event.name if isinstance(event, Assigned) else run.code_of(_node(site))
    steps = tuple(chain(since(value, run), run, before))
    yield _Noted(_node(site), code, str(device), steps)


WITHOUT_PLACE = (Bound, Class, Const, ImportedName, Flag, Function, HostValue, ProjectModule)
"""What has no device, so that there is nothing to show of it."""


def since(value: Value, run: Run) -> Step | None:
    """The step that put a value where it is."""
    if isinstance(value, Module):
        place = run.state.read(value.ref, DEVICE_FIELD)
        return getattr(place, "since", value.since)
    step = getattr(value, "since", None)
    return step if isinstance(step, Step) else None


def chain(step: Step | None, run: Run, before: dict[Site, Step]) -> Iterator[tuple[Site, str]]:
    """The steps in the order in which they were taken, and the calls that handed the value on."""
    steps: list[Step] = []
    last = step
    while step is not None and step not in steps:
        steps.append(step)
        step = before.get(step.site)
    for one in reversed(steps):
        yield one.site, str(one)
    calls: list[tuple[Site, str]] = []
    frame: Frame | None = run.frame
    while frame is not None and last is not None and last in frame.passed:
        calls.append((frame.passed[last], f"passed to {frame.name or 'a function'}() here"))
        frame = frame.caller
    yield from reversed(calls)


def line_asked_about(source: SourceFile, line: int, cell: int | None) -> int:
    """The line of the text that is meant; raises `CheckError` where there is none."""
    cells = source.cells()
    if cells is None and cell is None:
        # What follows the last newline is no line to whoever counts them.
        last = max(1, len(source.text.splitlines()))
        if not 1 <= line <= last:
            count = "1 line" if last == 1 else f"{last} lines"
            raise CheckError(source.path, line, 0, f"the file has {count}")
        return line
    if cells is None or cell is None:
        problem = (
            "is not a notebook" if cells is None else "is a notebook: name the cell, FILE:CELL:LINE"
        )
        raise CheckError(source.path, line, 0, problem)
    found = source.line_of_cell(cell, line)
    if found is None:
        raise CheckError(source.path, line, 0, "no such line of Python code", cell)
    return found


def asked_about(line: int, source: SourceFile, tree: cst.Module) -> frozenset[cst.CSTNode]:
    """The expressions that begin on a line, and the names that it binds."""
    expressions: list[cst.CSTNode] = []
    waiting: list[cst.CSTNode] = [tree]
    while waiting:
        node = waiting.pop()
        waiting.extend(_asked_of(node))
        if isinstance(node, _TELLING):
            expressions.append(node)
    spans = locate(tree, source, expressions)
    return frozenset(
        node for node, span in spans.items() if source.position(span.start).line == line
    )


_TELLING = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BinaryOperation)


def _asked_of(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What of a node is a value of its own: the name of a function or of a keyword is none."""
    for child in node.children:
        if isinstance(node, cst.Attribute) and child is node.attr:
            continue
        if isinstance(node, cst.Arg) and child is node.keyword:
            continue
        if isinstance(node, cst.Call) and child is node.func:
            if isinstance(child, cst.Attribute):
                yield child.value
            continue
        yield child


def _node(site: object) -> cst.CSTNode:
    assert isinstance(site, cst.CSTNode)
    return site
