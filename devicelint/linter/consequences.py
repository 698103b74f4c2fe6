"""What follows from a mistake that is reported itself.

Where a setting keeps a program on the CPU, and a line goes to an accelerator all the same, that
line is the mistake: whatever it meets afterwards is where the setting says.  What is loaded after a
line that raises is loaded once that line is mended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from devicelint.domain.history import Site
from devicelint.finding import Certainty
from devicelint.linter.locations import RawFinding

_DEMANDS = frozenset({"DEV401", "DEV403"})
_RAISING = frozenset({"DEV401", "DEV402"})
_LOAD = "DEV303"
_CLASHES = frozenset({"DEV101", "DEV102", "DEV103"})


def without_consequences(findings: Sequence[RawFinding]) -> list[RawFinding]:
    """The findings, but for clashes that would be gone once a reported demand is mended."""
    demands = frozenset(
        site
        for one in findings
        if one.rule.code in _DEMANDS and one.report.certainty is not Certainty.POSSIBLE
        for site in _places(one.report.site)
    )
    return [one for one in findings if not (demands and _follows(one, demands))]


def without_later_loads(
    findings: Sequence[RawFinding], after: Mapping[Site, frozenset[Site]]
) -> list[RawFinding]:
    """The findings, but for loads that come after a line which is reported to raise before."""
    raising = frozenset(
        site
        for one in findings
        if one.rule.code in _RAISING and one.report.certainty is Certainty.CERTAIN
        for site in _places(one.report.site)
    )
    return [
        one
        for one in findings
        if one.rule.code != _LOAD or raising.isdisjoint(_all_places(after, one.report.site))
    ]


def _all_places(after: Mapping[Site, frozenset[Site]], load: Site) -> Iterator[Site]:
    for one in after.get(load, ()):
        yield from _places(one)


def _follows(found: RawFinding, demands: frozenset[Site]) -> bool:
    """Whether a clash is only where a setting keeps to the CPU what a demand's value meets."""
    if found.rule.code not in _CLASHES or not all(one.is_set_to_the_cpu for one in found.worlds):
        return False
    return any(site in demands for site, _ in found.report.related)


def _places(site: Site) -> Iterator[Site]:
    """A call, and the name of its method, at which a move is shown."""
    yield site
    if isinstance(site, cst.Call) and isinstance(site.func, cst.Attribute):
        yield site.func.attr
