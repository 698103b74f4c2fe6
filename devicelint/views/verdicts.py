"""What is held of the clashes on one line: how sure each is, on what grounds, what excuses it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import libcst as cst

from devicelint.domain.devices import CPU, Unsure
from devicelint.domain.events import Event, Load, Operand, Transfer
from devicelint.domain.history import Site, Step
from devicelint.domain.standing import Conduct, Level, Standing
from devicelint.domain.verdicts import Excuse, Judged
from devicelint.domain.worlds import World
from devicelint.finding import Elsewhere
from devicelint.interpreter.engine.attempts import Retractable
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.torch.operations.excuses import (
    CPU_FILE,
    HOST_CALLS,
    ON_HOST,
    UNDECLARED,
)
from devicelint.interpreter.torch.operations.verdicts import ELSEWHERE, MUTED
from devicelint.linter.callers import Callers
from devicelint.linter.collector import Collector, parent_of
from devicelint.linter.locations import RawFinding, located_elsewhere
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile
from devicelint.views.why import StepPlaces, chain, remember

ALL_IN_ONE = Excuse(
    "many-demands",
    "one note covers the whole file, which needs an accelerator, or an earlier line fails",
)
SEEN_TO = Excuse("seen-to", "the code handles it in another place, or another finding covers it")

FOR_THE_CPU = Excuse("for-the-cpu", "the code passes it on to functions that only take CPU tensors")
OWN_FILE = Excuse(
    "own-file", "every caller of the function has itself saved what the function loads"
)
NO_CHECKPOINT = Excuse("no-checkpoint", "no caller loads the result into a model")


@dataclass(frozen=True)
class OperandAccount:
    """Where one operand of a clash is, and the steps that led there."""

    code: str
    device: str
    steps: tuple[Elsewhere, ...]


@dataclass(frozen=True)
class Judgement:
    """What is held of one clash; without an excuse, it is reported."""

    what: str
    level: Level
    machines: tuple[str, ...]
    evidence: tuple[OperandAccount, ...]
    excuses: tuple[Excuse, ...]


@dataclass(frozen=True)
class Judgements:
    """What is held of the clashes on a line."""

    line: int
    clashes: tuple[Judgement, ...]


class _Met(NamedTuple):
    """An operand: its expression, its device, and the steps that led there."""

    site: Site
    code: str
    device: str
    chain: tuple[tuple[Site, str], ...]


class _Clash(NamedTuple):
    site: Site
    what: str
    standing: Standing
    operands: tuple[_Met, ...]
    calls: tuple[Site, ...]
    """The calls that led from the checked file to another one, where it happens there."""


class _Known(NamedTuple):
    """What is known when the walks are over."""

    conduct: Conduct
    callers: Callers
    reported: Sequence[RawFinding]

    def level_of(self, clash: _Clash) -> Level:
        return self.callers.level_of(clash.standing, self.conduct)

    def said_of(self, clash: _Clash) -> Iterator[cst.CSTNode]:
        """Where the findings stand that are about a clash, or about how it came to it."""
        sites = set(_sites(clash))
        for one in (finding.report for finding in self.reported):
            is_about = one.site in sites or any(site in sites for site, _ in one.related)
            if is_about and isinstance(one.site, cst.CSTNode):
                yield one.site


class Judging:
    """Listens to the verdicts of the walks through a file."""

    def __init__(self, collector: Collector) -> None:
        """What is reported in the end, the rules say: those that a collector asks."""
        self._heard: dict[World, dict[_Clash, set[tuple[Excuse, ...]]]] = {}
        self._loads: dict[Site, Load] = {}
        self._collector = collector

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; a walk that is given up is forgotten."""
        heard: dict[_Clash, set[tuple[Excuse, ...]]] = {}
        before: dict[Site, Step] = {}
        self._heard.pop(parent_of(world) or world, None)
        self._heard[world] = heard
        collect = self._collector.listener_for(world)

        def hear(event: Event, run: Run) -> None:
            if run.concerns(event):
                collect(event, run)
            if isinstance(event, Load):
                self._loads[event.site] = event
            elif isinstance(event, Transfer):
                remember(event, run, before)
            elif isinstance(event, Judged) and _is_clash(event.verdict.evidence):
                heard.setdefault(_clash(event, run, before), set()).add(event.verdict.excuses)

        return Retractable(hear, collect.kept)

    def known_in(self, program: Program, callers: Callers) -> _Known:
        """What is known when the walks are over."""
        return _Known(program.conduct, callers, self._collector.reports(callers))

    def judgements(
        self,
        line: int,
        source: SourceFile,
        tree: cst.Module,
        imported: Iterable[Program],
        known: _Known,
    ) -> Judgements:
        """The clashes that happen on a line, or of which an operand stands there."""
        told: dict[tuple[_Clash, tuple[Excuse, ...]], list[str]] = {}
        for world, heard in self._heard.items():
            for clash, reasons in heard.items():
                for excuses in _decisive(reasons):
                    told.setdefault((clash, excuses), []).append(world.description)
        sites = [site for clash, _ in told for site in _sites(clash)]
        sites += [one for clash, _ in told for one in known.said_of(clash)]
        spans = locate(tree, source, sites)
        far = located_elsewhere([site for site in sites if site not in spans], imported)
        places = StepPlaces(source, spans, far)
        return Judgements(
            line,
            tuple(
                _judgement(
                    clash,
                    (*excuses, *self._later(clash, excuses, known)),
                    machines,
                    places,
                    self._level_of(clash, known),
                )
                for (clash, excuses), machines in told.items()
                if any(
                    places.line(site) == line for site in (*_places(clash), *known.said_of(clash))
                )
            ),
        )

    def _level_of(self, clash: _Clash, known: _Known) -> Level:
        load = self._loads.get(clash.site)
        is_unread = load is not None and known.callers.readers.never_read(load)
        return Level.POSSIBLE if is_unread else known.level_of(clash)

    def _later(self, clash: _Clash, excuses: tuple[Excuse, ...], known: _Known) -> Iterator[Excuse]:
        """What turns out to excuse it when the walks are over."""
        conduct, callers, _ = known
        standing, load = clash.standing, self._loads.get(clash.site)
        cases = (
            (HOST_CALLS, callers.say_of(standing).is_on_host),
            (UNDECLARED, standing.is_undeclared(conduct)),
            (ON_HOST, standing.is_on_host(conduct)),
            (FOR_THE_CPU, len(clash.operands) > 1 and standing.is_for_the_cpu(conduct)),
            (ELSEWHERE, standing.is_shown_there(conduct)),
            (CPU_FILE, load is not None and callers.readers.save_from_the_cpu(load)),
            (OWN_FILE, load is not None and callers.readers.load_their_own(load)),
            (NO_CHECKPOINT, load is not None and callers.readers.make_nothing_of(load)),
        )
        found = tuple(excuse for excuse, holds in cases if holds)
        yield from found
        is_possible = self._level_of(clash, known) is Level.POSSIBLE
        if not (found or excuses or is_possible or any(known.said_of(clash))):
            yield ALL_IN_ONE if load is not None else SEEN_TO


def _is_clash(operands: tuple[Operand, ...]) -> bool:
    """Whether one may be on an accelerator; of a checkpoint, which has no operands, any may."""
    return not operands or any(map(_may_be_elsewhere, operands))


def _may_be_elsewhere(operand: Operand) -> bool:
    return operand.device != CPU and not isinstance(operand.device, Unsure)


def _clash(event: Judged, run: Run, before: dict[Site, Step]) -> _Clash:
    operands = tuple(
        _Met(one.site, _code(run, one.site), str(one.device), tuple(chain(one.since, run, before)))
        for one in event.verdict.evidence
    )
    calls = tuple(_calls_elsewhere(run))
    return _Clash(event.site, event.what, event.verdict.standing, operands, calls)


def _calls_elsewhere(run: Run) -> Iterator[Site]:
    frame: Frame | None = run.frame
    while frame is not None and not frame.is_checked:
        yield frame.site
        frame = frame.caller


def _code(run: Run, site: Site) -> str:
    return run.code_of(site) if isinstance(site, cst.CSTNode) else ""


def _decisive(reasons: set[tuple[Excuse, ...]]) -> Iterator[tuple[Excuse, ...]]:
    """What was walked muted counts where it was not walked otherwise."""
    heard = [excuses for excuses in reasons if MUTED not in excuses]
    yield from heard or reasons


def _places(clash: _Clash) -> Iterator[Site]:
    yield clash.site
    yield from clash.calls
    yield from (one.site for one in clash.operands)


def _sites(clash: _Clash) -> Iterator[cst.CSTNode]:
    steps = (site for one in clash.operands for site, _ in one.chain)
    for site in (*_places(clash), *steps):
        if isinstance(site, cst.CSTNode):
            yield site


def _judgement(
    clash: _Clash,
    excuses: tuple[Excuse, ...],
    machines: list[str],
    places: StepPlaces,
    level: Level,
) -> Judgement:
    evidence = (
        OperandAccount(one.code, one.device, places.steps(one.chain)) for one in clash.operands
    )
    return Judgement(clash.what, level, tuple(machines), tuple(evidence), excuses)
