"""Puts together what was heard of one mistake: in several worlds, and at several places."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from devicelint.domain.events import Clash
from devicelint.domain.worlds import World
from devicelint.finding import Certainty, Severity
from devicelint.fixes import Rewrite
from devicelint.linter.locations import RawFinding
from devicelint.rules import Report

Key = tuple[str, object]
"""The rule of a finding, and what it is about."""


class Mistakes:
    """One finding for each rule and subject, with the worlds in which it holds.

    Two operands that meet again further down are the mistake of the line that fails first.
    """

    def __init__(self) -> None:
        self._merged: dict[Key, RawFinding] = {}
        self._reached: set[Key] = set()
        self._first: dict[tuple[World, Hashable], Key] = {}
        """The finding of the line that fails first, for what is combined there."""
        self._later: list[tuple[Key, RawFinding, Clash, bool]] = []

    def add(self, key: Key, found: RawFinding, clash: Clash | None, *, is_reached: bool) -> None:
        """Take what was heard in one world."""
        if clash is not None and clash.follows:
            self._later.append((key, found, clash, is_reached))
            return
        if clash is not None:
            self._first.setdefault((found.worlds[0], _pair(clash)), key)
        self._merge(key, found, is_reached=is_reached)

    def _merge(self, key: Key, found: RawFinding, *, is_reached: bool) -> None:
        """What some world gets to says more than what none does, however sure that is."""
        before, world = self._merged.get(key), found.worlds[0]
        was_reached = key in self._reached
        if is_reached:
            self._reached.add(key)
        if before is None or is_reached is not was_reached:
            self._merged[key] = found if before is None or is_reached else before
        elif is_surer(found.report, before.report):
            self._merged[key] = found
        elif world not in before.worlds and _says_as_much(found.report, before.report):
            self._merged[key] = replace(before, worlds=(*before.worlds, world))

    def all(self) -> list[RawFinding]:
        """The findings, those of lines that some world gets to."""
        for key, found, clash, is_reached in self._later:
            place = found.worlds[0], _pair(clash)
            first = self._merged.get(self._first.setdefault(place, key))
            if first is None or key in self._merged or is_surer(found.report, first.report):
                self._merge(key, found, is_reached=is_reached)
            else:
                report = _with_another(first.report, found.report)
                self._merged[self._first[place]] = replace(first, report=report)
        return [one for key, one in self._merged.items() if key in self._reached]


def without_repeated_fixes(findings: Iterable[RawFinding]) -> list[RawFinding]:
    """The findings, but for clashes that have the same fix as an earlier one.

    `data.to(device)` moves what a module is called with, and the labels of its loss.
    """
    kept: list[RawFinding] = []
    for one in findings:
        first = next((n for n, each in enumerate(kept) if _has_fix_of(each, one)), None)
        if first is None:
            kept.append(one)
        else:
            report = _with_another(kept[first].report, one.report)
            kept[first] = replace(kept[first], report=report)
    return kept


def _has_fix_of(first: RawFinding, other: RawFinding) -> bool:
    """Whether another clash has the same fix as the first one, and says no more."""
    fix, same = first.report.fix, other.report.fix
    if fix is None or same is None or fix.changes != same.changes:
        return False
    if not {first.rule.code, other.rule.code} <= _CLASHES or is_surer(other.report, first.report):
        return False
    is_worse = first.report.severity is Severity.WARNING is not other.report.severity
    return not is_worse and set(other.worlds) <= set(first.worlds)


_CLASHES = frozenset({"DEV101", "DEV102"})


def _pair(clash: Clash) -> Hashable:
    return clash.culprit.since, clash.reference.device


def is_surer(one: Report, other: Report) -> bool:
    """Whether only the other report is of what is merely possible."""
    return other.certainty is Certainty.POSSIBLE is not one.certainty


def _says_as_much(one: Report, other: Report) -> bool:
    """Whether what another report says holds where this one was made, too.

    "It fails unless `args.device` is the CPU" says less than "it fails".
    """
    if is_surer(other, one):
        return False
    return one.severity is not Severity.WARNING or other.severity is Severity.WARNING


def _with_another(first: Report, later: Report) -> Report:
    """A report of the line that fails first, with the fix of one that would fail after it."""
    fix = _both(first.fix, later.fix)
    place = (later.site, "also combined here")
    related = first.related if place in first.related else (*first.related, place)
    return replace(first, fix=fix, related=related)


def _both(first: Rewrite | None, later: Rewrite | None) -> Rewrite | None:
    if first is None or later is None or first.safety is not later.safety:
        return first
    more = tuple(one for one in later.changes if one not in first.changes)
    return replace(first, changes=(*first.changes, *more))
