"""What is held of the clashes on one line: how sure each is, on what grounds, what excuses it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import libcst as cst

from devicelint.domain.devices import CPU, Unsure
from devicelint.domain.events import Event, Operand, Transfer
from devicelint.domain.history import Site, Step
from devicelint.domain.standing import Conduct, Level, Standing
from devicelint.domain.verdicts import Excuse, Judged
from devicelint.domain.worlds import World
from devicelint.finding import Elsewhere
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.torch.operations.excuses import HOST_CALLS, ON_HOST, UNDECLARED
from devicelint.interpreter.torch.operations.verdicts import ELSEWHERE, MUTED
from devicelint.linter.callers import Callers
from devicelint.linter.collector import parent_of
from devicelint.linter.locations import located_elsewhere
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile
from devicelint.views.why import StepPlaces, chain, remember


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


class Judging:
    """Listens to the verdicts of the walks through a file."""

    def __init__(self) -> None:
        self._heard: dict[World, dict[_Clash, set[tuple[Excuse, ...]]]] = {}

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; a walk that is given up is forgotten."""
        heard: dict[_Clash, set[tuple[Excuse, ...]]] = {}
        before: dict[Site, Step] = {}
        self._heard.pop(parent_of(world) or world, None)
        self._heard[world] = heard

        def hear(event: Event, run: Run) -> None:
            if isinstance(event, Transfer):
                remember(event, run, before)
            elif isinstance(event, Judged) and _is_clash(event.verdict.evidence):
                heard.setdefault(_clash(event, run, before), set()).add(event.verdict.excuses)

        return hear

    def judgements(
        self,
        line: int,
        source: SourceFile,
        program: Program,
        imported: Iterable[Program],
        callers: Callers,
    ) -> Judgements:
        """The clashes that happen on a line, or of which an operand stands there."""
        told: dict[tuple[_Clash, tuple[Excuse, ...]], list[str]] = {}
        for world, heard in self._heard.items():
            for clash, reasons in heard.items():
                for excuses in _decisive(reasons):
                    told.setdefault((clash, excuses), []).append(world.description)
        sites = [site for clash, _ in told for site in _sites(clash)]
        spans = locate(program.tree, source, sites)
        far = located_elsewhere([site for site in sites if site not in spans], imported)
        places = StepPlaces(source, spans, far)
        return Judgements(
            line,
            tuple(
                _judgement(clash, excuses, machines, places, (program.conduct, callers))
                for (clash, excuses), machines in told.items()
                if any(places.line(site) == line for site in _places(clash))
            ),
        )


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
    known: tuple[Conduct, Callers],
) -> Judgement:
    conduct, callers = known
    evidence = (
        OperandAccount(one.code, one.device, places.steps(one.chain)) for one in clash.operands
    )
    level = callers.level_of(clash.standing, conduct)
    if callers.say_of(clash.standing).is_on_host:
        excuses = (*excuses, HOST_CALLS)
    if clash.standing.is_undeclared(conduct):
        excuses = (*excuses, UNDECLARED)
    if clash.standing.is_on_host(conduct):
        excuses = (*excuses, ON_HOST)
    if clash.standing.is_shown_there(conduct):
        excuses = (*excuses, ELSEWHERE)
    return Judgement(clash.what, level, tuple(machines), tuple(evidence), excuses)
