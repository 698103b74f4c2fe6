"""The tables that are printed of a tally, and the same as plain values for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchmarks.differential.cuda import Cuda
from benchmarks.differential.holes import Hole
from benchmarks.differential.judging import ROLES
from benchmarks.differential.outcomes import MACHINES
from benchmarks.differential.tally import Tally

_MOST_OTHERS = 10


def report(
    tally: Tally, holes: Sequence[tuple[Hole, int]], seconds: float, cuda: Cuda | None = None
) -> Iterator[str]:
    """The lines that are printed; the last one says it all."""
    yield from _programs(tally, seconds)
    yield ""
    yield from table(
        ("on a machine with", "ran through", "alarmed", "device error", "missed", "other error"),
        map(_machine(tally), MACHINES if cuda is None else [cuda.gpus]),
    )
    if cuda is not None:
        others = " and ".join(_gpus(each) for each in MACHINES if each != cuda.gpus)
        yield f"  run on CUDA itself ({cuda.name}); left out: machines with {others}"
    yield ""
    yield from table(("error", "on", "raised", "missed"), _kinds(tally))
    yield ""
    yield from table(
        ("feature", "raised there", "missed", "share", "ran through with", "alarms"),
        _features(tally),
    )
    yield ""
    yield from table(("rule", "what became of its findings", "findings"), _alarms(tally))
    if holes:
        yield ""
        yield from table(("hole", "programs"), ((str(hole), count) for hole, count in holes))
    yield ""
    yield last_line(tally)


def last_line(tally: Tally) -> str:
    """All in one line."""
    return (
        f"misses {tally.missed} of {tally.raising} raising, "
        f"false alarms {tally.alarmed} of {tally.passing} passing"
    )


def as_json(tally: Tally, holes: Sequence[tuple[Hole, int]], seconds: float) -> dict[str, Any]:
    """The figures as plain values."""
    figures: dict[str, Any] = {
        name: plain(value) if isinstance(value, Counter) else value
        for name, value in vars(tally).items()
    }
    figures["holes"] = [
        {"failure": hole.failure, "what": hole.what, "feature": hole.feature, "programs": count}
        for hole, count in holes
    ]
    figures["misses_per_thousand"] = round(tally.per_thousand(tally.missed), 1)
    figures["false_alarms_per_thousand"] = round(tally.per_thousand(tally.alarmed), 1)
    figures["seconds"] = round(seconds, 1)
    return figures


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table of plain text: words to the left, numbers to the right."""
    given = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *given, strict=True)]
    for row in (head, *given):
        cells = (
            cell.ljust(width) if place == 0 or not _is_number(given, place) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _is_number(rows: Sequence[Sequence[str]], place: int) -> bool:
    return all(row[place].rstrip("%").replace(".", "").isdigit() for row in rows)


def _programs(tally: Tally, seconds: float) -> Iterator[str]:
    length = tally.lines / tally.programs if tally.programs else 0.0
    taken = tally.processor_seconds
    yield (
        f"{tally.programs} programs of {length:.0f} lines in {seconds:.0f} s, "
        f"{_a_second(tally, seconds)} a second; "
        f"{taken:.0f} s of a processor, {_a_second(tally, taken)} a second"
    )
    rows = (
        ("ran through on a machine", tally.passing),
        ("  with a false alarm", tally.alarmed),
        ("raised a device error on a machine", tally.raising),
        ("  of which one was missed", tally.missed),
        ("raised another error on a machine", tally.failing),
        ("could not be checked", tally.faults),
    )
    for name, count in rows:
        yield f"  {name:36}{count:7}{tally.per_thousand(count):9.1f} of 1,000"
    close = ", ".join(f"{role} {tally.roles[role]}" for role in ROLES if tally.roles[role])
    yield f"  what the findings name that found an error: {close or 'nothing'}"
    for said, count in tally.others.most_common(_MOST_OTHERS):
        yield f"  other error, {count} programs: {said}"


def _a_second(tally: Tally, seconds: float) -> str:
    return f"{tally.programs / seconds:.1f}" if seconds else "-"


def _machine(tally: Tally) -> Any:
    def row(gpus: int) -> tuple[object, ...]:
        return (
            _gpus(gpus),
            tally.endings[gpus, "passed"],
            tally.alarmed_runs[gpus],
            tally.endings[gpus, "device error"],
            tally.missed_runs[gpus],
            tally.endings[gpus, "other error"],
        )

    return row


def _gpus(count: int) -> str:
    return f"{count or 'no'} GPU{'s' if count > 1 else ''}"


def _kinds(tally: Tally) -> Iterator[tuple[object, ...]]:
    for (gpus, kind), count in tally.kinds.most_common():
        yield kind, f"{gpus} GPUs", count, tally.missed_kinds[gpus, kind]


def _features(tally: Tally) -> Iterator[tuple[object, ...]]:
    names = sorted(
        tally.passing_with.keys() | tally.raising_at.keys(),
        key=lambda name: (-tally.missed_at[name] - tally.alarmed_at[name], name),
    )
    for name in names:
        raised, missed = tally.raising_at[name], tally.missed_at[name]
        share = f"{100 * missed / raised:.0f}%" if raised else "-"
        yield name, raised, missed, share, tally.passing_with[name], tally.alarmed_at[name]


def _alarms(tally: Tally) -> Iterator[tuple[object, ...]]:
    for (rule, kind), count in tally.alarms.most_common():
        yield rule, kind, count


def plain(counter: Counter[Any]) -> dict[str, int]:
    """Counts by words, the largest first."""
    return {
        ", ".join(map(str, key)) if isinstance(key, tuple) else str(key): count
        for key, count in counter.most_common()
    }
