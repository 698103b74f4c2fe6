"""Collects what the rules report while a program is walked: each mistake once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from devicelint import profiling
from devicelint.crash import error_in_one_line
from devicelint.domain.events import Clash, Event, Load, MixedOperation
from devicelint.domain.history import Site
from devicelint.domain.standing import CERTAIN, Conduct, Level, Standing
from devicelint.domain.worlds import World, whether_or_not
from devicelint.finding import Certainty
from devicelint.interpreter.engine.attempts import Retractable
from devicelint.interpreter.engine.budget import BudgetExceeded
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.split import Split
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.linter.callers import Callers, cited
from devicelint.linter.consequences import without_consequences, without_later_loads
from devicelint.linter.locations import RawFinding
from devicelint.linter.many_demands import summed_up
from devicelint.linter.mistakes import Mistakes, is_surer, without_repeated_fixes
from devicelint.rules import Report, Reports, Rule
from devicelint.rules._listening import event_of, methods_of


@dataclass(frozen=True)
class _Heard:
    """What a rule says of an event, and how sure that is once the walk is over."""

    rule: Rule
    report: Report
    standing: Standing
    conduct: Conduct
    world: World
    """Where this was heard, with the conditions that have to hold there."""
    is_reached: bool
    """Whether no line before raises in that world."""
    load: Load | None
    """The checkpoint that is read, if this is about one."""
    clash: Clash | None
    """What does not agree, if this is about two operands."""

    def report_at_end(self, callers: Callers, *, is_adopted: bool = False) -> Report | None:
        """The report; None where it turned out to be no mistake, or to be one of another file.

        Where nothing turned out to be treated as movable, it takes a call to make it true.  Whoever
        adopts a file moves what the code takes for granted, too.
        """
        standing = self.standing
        if standing.is_on_host(self.conduct) or standing.is_shown_there(self.conduct):
            return None
        if self.clash is not None and standing.is_for_the_cpu(self.conduct):
            return None
        if standing.is_undeclared(self.conduct) or self.report.unless in self.conduct.seen_to:
            return None
        if self.load is not None and callers.readers.need_no_location(self.load):
            return None
        if self.load is not None and callers.readers.never_read(self.load):
            return replace(self.report, certainty=Certainty.POSSIBLE)
        called = callers.say_of(standing)
        if called.is_on_host:
            return None
        level = callers.level_of(standing, self.conduct)
        if not callers.tell(standing, self.conduct):
            level = Level.POSSIBLE
        if level is Level.POSSIBLE:
            is_taken = is_adopted and self.report.certainty is Certainty.BELIEF
            return self.report if is_taken else replace(self.report, certainty=Certainty.POSSIBLE)
        is_shown = level is Level.CALLED and called.shows is not None
        return cited(self.report, called) if is_shown else self.report


class Collector:
    """Passes every event to the rules that listen, and keeps their reports, one per mistake."""

    def __init__(self, rules: tuple[Rule, ...], *, adopts: bool = False) -> None:
        self._rules = rules
        self._adopts = adopts
        self._handlers = _handlers(rules)
        self.wanted = frozenset(self._handlers)
        """The names of the events that any of the rules listens to."""
        self._walks: list[tuple[World, list[_Heard]]] = []

    def listener_for(self, world: World) -> Retractable:
        """The listener of one walk; reports of an abandoned walk of the same world are dropped."""
        reports: list[_Heard] = []
        handlers = self._handlers
        self._walks = [walk for walk in self._walks if walk[0] != parent_of(world)]
        self._walks.append((world, reports))

        def listen(event: Event, run: Run) -> None:
            listening = handlers.get(type(event).__name__)
            if listening is None:
                return
            context, standing = RuleContext(run), _standing_of(event)
            conduct, is_reached = run.program.conduct, not run.state.failed
            for rule, handle in listening:
                reports.extend(
                    _Heard(
                        rule,
                        report,
                        standing,
                        conduct,
                        context.circumstances,
                        is_reached or _wants_all(rule),
                        event if isinstance(event, Load) else None,
                        event.clash if isinstance(event, MixedOperation) else None,
                    )
                    for report in handle(event, context)
                    if not (run.world.is_set_to_the_cpu and report.certainty is Certainty.CONTRACT)
                )

        return Retractable(listen, reports)

    def reports(self, callers: Callers) -> list[RawFinding]:
        """One finding for each rule and subject, with the worlds in which it holds."""
        found = Mistakes()
        for _, heard in self._walks:
            for one in heard:
                report = one.report_at_end(callers, is_adopted=self._adopts)
                if report is not None:
                    subject = report.site if report.subject is None else report.subject
                    key = (one.rule.code, subject)
                    raw = RawFinding(one.rule, report, (one.world,))
                    found.add(key, raw, one.clash, is_reached=one.is_reached)
        kept = without_repeated_fixes(without_consequences(found.all()))
        told = summed_up(tuple(_unique_messages(kept)), self._rules)
        return told if self._adopts else without_later_loads(told, self._raising_before())

    def _raising_before(self) -> dict[Site, frozenset[Site]]:
        """The lines before each load that raise on the machine where that fails."""
        loads = (one.load for _, heard in self._walks for one in heard)
        return {one.site: one.after for one in loads if one is not None}


def _wants_all(rule: Rule) -> bool:
    """Whether a rule is about the whole program, or was asked for: then it is about all places."""
    return rule.adopts or rule.asked_for


def _standing_of(event: Event) -> Standing:
    """How sure what an event announces is."""
    clash: Clash | None = getattr(event, "clash", None)
    standing: Standing = getattr(clash or event, "standing", CERTAIN)
    return standing


def _unique_messages(findings: Iterable[RawFinding]) -> Iterable[RawFinding]:
    """Merge findings of one message: what callers pass may lead to it in more than one way.

    What is merely possible there is left out beside what is more.
    """
    unique: dict[tuple[str, object, str], RawFinding] = {}
    for finding in findings:
        key = (finding.rule.code, finding.report.site, finding.report.message)
        first = unique.get(key)
        if first is None or is_surer(finding.report, first.report):
            unique[key] = finding
        elif not is_surer(first.report, finding.report):
            worlds = dict.fromkeys((*first.worlds, *finding.worlds))
            unique[key] = replace(first, worlds=tuple(worlds))
    return [replace(one, worlds=whether_or_not(one.worlds)) for one in unique.values()]


def parent_of(world: World) -> World | None:
    """The world whose walk was given up for this one and its twin."""
    if not world.settings:
        return None
    return World(world.accelerators, world.settings[:-1])


def _handlers(
    rules: tuple[Rule, ...],
) -> dict[str, list[tuple[Rule, Callable[..., Reports]]]]:
    """The rules that listen to each event."""
    handlers: dict[str, list[tuple[Rule, Callable[..., Reports]]]] = {}
    for rule in rules:
        for method in methods_of(type(rule)):
            handle = getattr(rule, method)
            if rule.plugin:
                handle = partial(_plugin_reports, rule, handle)
            if timed := profiling.timed():
                handle = partial(_timed_reports, timed, rule, handle)
            handlers.setdefault(event_of(method), []).append((rule, handle))
    return handlers


def _timed_reports(
    timed: profiling.Timing,
    rule: Rule,
    handle: Callable[..., Reports],
    event: Event,
    context: RuleContext,
) -> Reports:
    with timed.part(f"{rule.code} {rule.name}"):
        return iter(tuple(handle(event, context)))


def _report(value: object) -> Report:
    if isinstance(value, Report):
        return value
    raise TypeError(f"{value!r} is no Report")


class RuleFailed(Exception):
    """A rule of a plug-in has failed; says which, and how."""


def _plugin_reports(
    rule: Rule, handle: Callable[..., Reports], event: Event, context: RuleContext
) -> Reports:
    """The reports of a plug-in's rule, whose errors are reported as those of the plug-in."""
    try:
        for report in handle(event, context):
            yield _report(report)
    except (Split, BudgetExceeded, RecursionError):
        raise
    except Exception as error:
        message = f"{rule.code} {rule.name} of {rule.plugin} has failed: {error_in_one_line(error)}"
        raise RuleFailed(message) from error
