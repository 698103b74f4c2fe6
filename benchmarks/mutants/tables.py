"""What became of the mutants, in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.halves import Half
from benchmarks.mutants.judging import Judged
from benchmarks.mutants.omissions import KINDS

HEADS = (
    "mutants",
    "not run",
    "redundant",
    "otherwise",
    "harmful",
    "found",
    "elsewhere",
    "safe",
    "all",
)
HALVES: tuple[Half, ...] = ("learn", "measure")


@dataclass(frozen=True)
class Counts:
    """How many mutants of a group became what."""

    results: tuple[Judged, ...]

    def fate(self, fate: str) -> int:
        """How many came to this."""
        return sum(each.fate == fate for each in self.results)

    def cells(self) -> tuple[int, ...]:
        """The numbers of HEADS."""
        fates = (self.fate(name) for name in ("not run", "redundant", "fails otherwise", "harmful"))
        return (
            len(self.results),
            *fates,
            sum(each.found for each in self.results),
            sum(each.elsewhere for each in self.results),
            sum(each.safe for each in self.results),
            sum(each.all for each in self.results),
        )


def report(results: Iterable[Judged]) -> Iterator[str]:
    """Tables by subject of the learning half, by half, and by kind in each half; and one line."""
    every = tuple(results)
    learn = tuple(each for each in every if each.half == "learn")
    yield from _table("repository", {each.subject: "" for each in learn}, "subject", learn)
    yield from _table("half", dict.fromkeys(HALVES, ""), "half", every)
    for half in HALVES:
        own = tuple(each for each in every if each.half == half)
        yield from _table(f"kind, {half}", KINDS, "kind", own)
    yield last_line(every)


def _table(
    title: str, groups: Iterable[str], attribute: str, results: Sequence[Judged]
) -> Iterator[str]:
    names = list(groups)
    width = max(len(name) for name in (*names, title, "all")) + 1
    yield f"{title:{width}}" + "".join(f"{head:>10}" for head in HEADS)
    for name in names if attribute != "subject" else sorted(names, key=str.lower):
        own = tuple(each for each in results if getattr(each, attribute) == name)
        if own:
            yield _row(name, width, own)
    yield _row("all", width, tuple(results))
    yield ""


def _row(name: str, width: int, results: tuple[Judged, ...]) -> str:
    return f"{name:{width}}" + "".join(f"{cell:>10}" for cell in Counts(results).cells())


def last_line(results: Sequence[Judged]) -> str:
    """What both halves say."""
    return "; ".join(
        f"found {sum(each.found for each in own)} of {len(own)} harmful, "
        f"repaired {sum(each.all for each in own)} ({half})"
        for half in HALVES
        for own in [[each for each in results if each.half == half and each.fate == "harmful"]]
    )


def as_data(results: Iterable[Judged], *, seed: int, commit: str) -> dict[str, Any]:
    """The numbers alone: lines of other people's code stay in the folder of the results."""
    every = tuple(results)
    return {
        "seed": seed,
        "devicelint": commit,
        "halves": {half: _by_kind([e for e in every if e.half == half]) for half in HALVES},
    }


def _by_kind(results: Sequence[Judged]) -> dict[str, dict[str, int]]:
    groups = {"all": tuple(results)}
    for kind in KINDS:
        groups[kind] = tuple(each for each in results if each.kind == kind)
    return {
        name: dict(zip(HEADS, Counts(own).cells(), strict=True)) for name, own in groups.items()
    }
