"""What the rules say while a program is walked, gathered: each mistake once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from devicelint import profiling
from devicelint.crash import error_in_one_line
from devicelint.domain.events import Event
from devicelint.domain.worlds import World
from devicelint.finding import Certainty
from devicelint.interpreter.engine.budget import GivenUp
from devicelint.interpreter.engine.run import Listener, Run, Split
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.linter.locations import Said
from devicelint.rules import Report, Reports, Rule
from devicelint.rules._hearing import event_of, methods_of


class Gathering:
    """Lets every rule hear every event, and keeps what they say, once for each mistake."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._handlers = _handlers(rules)
        self.wanted = frozenset(self._handlers)
        """The names of the events that any of the rules hears."""
        self._walks: list[tuple[World, list[tuple[Rule, Report]]]] = []

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; what an abandoned walk of the same world said is dropped."""
        said: list[tuple[Rule, Report]] = []
        handlers = self._handlers
        self._walks = [walk for walk in self._walks if walk[0] != parent_of(world)]
        self._walks.append((world, said))

        def hear(event: Event, run: Run) -> None:
            listening = handlers.get(type(event).__name__)
            if listening is None:
                return
            context = RuleContext(run)
            for rule, handle in listening:
                said.extend(
                    (rule, report)
                    for report in handle(event, context)
                    if not (world.is_set_to_the_cpu and report.certainty is Certainty.CONTRACT)
                )

        return hear

    def reports(self) -> list[Said]:
        """What was said, one for each rule and subject, with the worlds in which it holds."""
        merged: dict[tuple[str, object], Said] = {}
        for world, said in self._walks:
            for rule, report in said:
                key = (rule.code, report.subject if report.subject is not None else report.site)
                before = merged.get(key)
                if before is None:
                    merged[key] = Said(rule, report, (world,))
                elif world not in before.worlds:
                    merged[key] = Said(rule, before.report, (*before.worlds, world))
        return list(_told_once(merged.values()))


def _told_once(said: Iterable[Said]) -> Iterable[Said]:
    """What a function's callers give it may lead to the same words by another way."""
    told: dict[tuple[str, object, str], Said] = {}
    for one in said:
        key = (one.rule.code, one.report.site, one.report.message)
        before = told.get(key)
        worlds = one.worlds if before is None else (*before.worlds, *one.worlds)
        told[key] = replace(before or one, worlds=tuple(dict.fromkeys(worlds)))
    return told.values()


def parent_of(world: World) -> World | None:
    """The world whose walk was given up for this one and its twin."""
    if not world.settings:
        return None
    return World(world.accelerators, world.settings[:-1])


def _handlers(
    rules: tuple[Rule, ...],
) -> dict[str, list[tuple[Rule, Callable[..., Reports]]]]:
    """For each event, the rules that hear it."""
    handlers: dict[str, list[tuple[Rule, Callable[..., Reports]]]] = {}
    for rule in rules:
        for method in methods_of(type(rule)):
            handle = getattr(rule, method)
            if rule.plugin:
                handle = partial(_heard_by_plugin, rule, handle)
            if timed := profiling.timed():
                handle = partial(_heard_in_time, timed, rule, handle)
            handlers.setdefault(event_of(method), []).append((rule, handle))
    return handlers


def _heard_in_time(
    timed: profiling.Timing,
    rule: Rule,
    handle: Callable[..., Reports],
    event: Event,
    context: RuleContext,
) -> Reports:
    with timed.part(f"{rule.code} {rule.name}"):
        return iter(tuple(handle(event, context)))


def _report(said: object) -> Report:
    if isinstance(said, Report):
        return said
    raise TypeError(f"{said!r} is no Report")


class RuleFailed(Exception):
    """A rule of a plug-in has failed; says which, and how."""


def _heard_by_plugin(
    rule: Rule, handle: Callable[..., Reports], event: Event, context: RuleContext
) -> Reports:
    """What a rule says that others have written, whose mistakes are told as theirs."""
    try:
        for report in handle(event, context):
            yield _report(report)
    except (Split, GivenUp, RecursionError):
        raise
    except Exception as error:
        told = f"{rule.code} {rule.name} of {rule.plugin} has failed: {error_in_one_line(error)}"
        raise RuleFailed(told) from error
