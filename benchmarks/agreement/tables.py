"""What the judge says: tables for people, plain data for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.agreement.comparing.places import LEVELS
from benchmarks.agreement.comparing.totals import Found, Totals

MOST_REASONS = 30


@dataclass
class Part:
    """One half, or one subject of the learning half.

    Attributes:
        name: which.
        packages: how many test suites were recorded.
        scripts: how many scripts were.
        tests: how many tests passed while they were.
        failed: how many runs failed.
        changed: how many tests and scripts end otherwise without the recorder.
        totals: what is counted.
    """

    name: str
    packages: int = 0
    scripts: int = 0
    tests: int = 0
    failed: int = 0
    changed: int = 0
    totals: Totals = field(default_factory=Totals)

    def add(self, other: Part) -> None:
        """Count another part, too."""
        for name in ("packages", "scripts", "tests", "failed", "changed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.totals.add(other.totals)


def report(parts: Sequence[Part]) -> Iterator[str]:
    """The tables of some parts, beside each other."""
    yield from _lines_of("what was recorded", parts, _recorded)
    yield from _lines_of("expressions, by what is known of them", parts, _levels("places"))
    yield from _lines_of("evaluations, by the same", parts, _levels("evaluations"))
    yield from _lines_of("contradictions", parts, _contradictions)
    yield from _lines_of("attributes of modules", parts, _owned)
    yield from _reasons(parts)


def by_subject(parts: Sequence[Part]) -> Iterator[str]:
    """A line for each subject of the learning half."""
    if not parts:
        return
    width = max(len(part.name) for part in parts)
    known = ("known", "where called", "by symbol", "unknown")
    heads = ("tests", "scripts", "expressions", *known, "contradictions")
    yield f"{'learning half':{width}}" + "".join(f"{head:>16}" for head in heads)
    for part in sorted(parts, key=lambda each: each.name.lower()):
        places, every = part.totals.places, part.totals.places.total() or 1
        levels = ("known", "known where called", "symbol", "unknown")
        shares = [f"{places[level] / every:.1%}" for level in levels]
        wrong = part.totals.contradictions.total()
        cells = (part.tests, part.scripts, places.total(), *shares, wrong)
        yield f"{part.name:{width}}" + "".join(f"{cell:>16}" for cell in cells)
    yield ""


def _lines_of(title: str, parts: Sequence[Part], cells: Any) -> Iterator[str]:
    """A table with a row for each thing that is counted, and a column for each part."""
    columns = [dict(cells(part)) for part in parts]
    names = list(dict.fromkeys(name for column in columns for name in column))
    if not names:
        return
    width = max(len(title), *map(len, names))
    yield f"{title:{width}}" + "".join(f"{part.name:>20}" for part in parts)
    for name in names:
        yield f"{name:{width}}" + "".join(f"{column.get(name, '0'):>20}" for column in columns)
    yield ""


def _recorded(part: Part) -> Iterator[tuple[str, str]]:
    totals = part.totals
    yield "packages, by their tests", str(part.packages)
    yield "tests that passed", f"{part.tests:,}"
    yield "scripts", str(part.scripts)
    yield "runs that failed", str(part.failed)
    yield "runs that end otherwise without the recorder", str(part.changed)
    yield "files", f"{totals.files:,}"
    yield "expressions that are noted", f"{totals.expressions:,}"
    yield "expressions that gave a tensor or a placed module", f"{totals.places.total():,}"
    yield "how often they did", f"{totals.evaluations.total():,}"
    yield "expressions that gave modules without tensors", f"{totals.placeless:,}"
    yield "calls of functions with tensors", f"{totals.calls['calls']:,}"
    yield "those with several devices", f"{totals.calls['on several devices']:,}"
    for name, count in sorted(totals.unread.items()):
        yield name, f"{count:,}"


def _levels(which: str) -> Any:
    def cells(part: Part) -> Iterator[tuple[str, str]]:
        counts: Counter[str] = getattr(part.totals, which)
        for level in LEVELS:
            yield level, _share(counts[level], counts.total())

    return cells


def _share(count: int, of: int) -> str:
    return f"{count:,} {count / of:7.1%}" if of else "0"


def _contradictions(part: Part) -> Iterator[tuple[str, str]]:
    totals = part.totals
    yield "all", f"{totals.contradictions.total():,}"
    placed = totals.places.total()
    if placed:
        yield "in 1,000 expressions", f"{1000 * totals.contradictions.total() / placed:.1f}"
    yield "symbols of two expressions or more", f"{totals.symbols:,}"
    for kind, count in totals.contradictions.most_common():
        yield kind, f"{count:,} ({totals.contradicted[kind]:,})"


def _owned(part: Part) -> Iterator[tuple[str, str]]:
    owned = part.totals.owned
    for name in ("right", "unknown", "wrong", "unwalked"):
        counts: Counter[str] = getattr(owned, name)
        yield f"{name}, all", f"{counts.total():,}"
        for kind, count in counts.most_common(6):
            yield f"{name}: {kind}", f"{count:,}"


def _reasons(parts: Sequence[Part]) -> Iterator[str]:
    together = sum((part.totals.reasons for part in parts), Counter[str]())
    if not together:
        return
    yield f"{'expressions':>12}{'evaluations':>12}  why they are unknown, or partly so"
    often = sum((part.totals.reasons_evaluated for part in parts), Counter[str]())
    for reason, count in together.most_common(MOST_REASONS):
        yield f"{count:>12,}{often[reason]:>12,}  {reason}"
    yield ""
    kinds = sum((part.totals.unwalked for part in parts), Counter[str]())
    told = ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common(6))
    yield f"paths not walked: {told or 'nothing'}"


def last_line(halves: Sequence[Part]) -> str:
    """All of it in one line."""
    told = [f"{part.name}: {_in_short(part.totals)}" for part in halves]
    return "; ".join(told)


def _in_short(totals: Totals) -> str:
    placed = totals.places
    every = placed.total() or 1
    wrong = totals.contradictions.total()
    known, called = placed["known"] / every, placed["known where called"] / every
    return (
        f"{wrong:,} contradictions in {placed.total():,} expressions,"
        f" {known:.1%} known, {called:.1%} where called, {placed['symbol'] / every:.1%} by symbol"
    )


def listed(found: Mapping[str, Sequence[Found]]) -> Iterator[str]:
    """Each contradiction in a line, by subject; the commonest kinds first."""
    kinds = Counter(one.kind for cases in found.values() for one in cases)
    for kind, count in kinds.most_common():
        yield f"# {kind}: {count}"
        for subject, cases in sorted(found.items()):
            for one in cases:
                if one.kind == kind:
                    history = f" ({one.history})" if one.history else ""
                    place = f"{subject}: {one.path}:{one.place}"
                    yield f"{place}: {one.claim}{history}; seen: {one.seen}, {one.times} times"
        yield ""


def as_data(part: Part) -> dict[str, Any]:
    """A part as plain data."""
    totals, owned = part.totals, part.totals.owned
    plain = {name: value for name, value in vars(totals).items() if name != "owned"}
    return {
        **{name: value for name, value in vars(part).items() if name != "totals"},
        **{name: _plain(value) for name, value in plain.items()},
        "owned": {name: _plain(value) for name, value in vars(owned).items()},
    }


def _plain(value: Any) -> Any:
    return dict(value.most_common()) if isinstance(value, Counter) else value
