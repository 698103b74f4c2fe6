"""The ledger as tables, and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.readings.figures import MILLION, Counts, Figures, Judged

COMMONEST = 10


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _of_counts(counts: Counts) -> str:
    act = "-" if counts.act is None else str(counts.act)
    return (
        f"{counts.findings:10}{counts.right:7}{counts.debatable:11}{counts.wrong:7}"
        f"{_percent(counts.share_right):>9}{act:>11}"
    )


_HEADS = f"{'findings':>10}{'right':>7}{'debatable':>11}{'wrong':>7}{'right':>9}{'would act':>11}"


def ledger_table(rows: Sequence[Figures]) -> Iterator[str]:
    """Yield a line for each batch."""
    width = max(len(row.name) for row in rows)
    yield (
        f"{'':{width}}  {'devicelint':10} {'repositories':>12}{'M lines':>9}{_HEADS}"
        f"{'right/M lines':>15}{'bugs seen':>11}{'found':>7}"
    )
    for row in rows:
        per_million = row.right_per_million
        yield (
            f"{row.name:{width}}  {row.devicelint[:8]:10} {row.repositories:12}"
            f"{row.lines / MILLION:9.3f}{_of_counts(row.counts)}"
            f"{'-' if per_million is None else f'{per_million:.1f}':>15}"
            f"{row.seen or '-':>11}{row.found if row.seen else '-':>7}"
        )


def batch_tables(judged: Judged) -> Iterator[str]:
    """Yield how the findings of one batch were judged, by repository, rule, and certainty."""
    groups = list(judged.groups())
    width = max((len(group) for _, group, _ in groups), default=0)
    for kind in dict.fromkeys(kind for kind, _, _ in groups):
        yield f"{kind:{width}}{_HEADS}"
        yield from (
            f"{group:{width}}{_of_counts(counts)}" for each, group, counts in groups if each == kind
        )
        yield ""
    causes = judged.causes()
    if causes:
        yield f"the commonest of {len(causes)} causes of what is not right"
    yield from (f"{count:6}  {cause}" for cause, count in causes[:COMMONEST])
    yield ""


def as_data(rows: Sequence[Figures], batches: Sequence[Judged]) -> dict[str, Any]:
    """All of it for `--json`."""
    return {
        "rows": [
            asdict(row)
            | {"share_right": row.counts.share_right, "right_per_million": row.right_per_million}
            for row in rows
        ],
        "groups": [
            {"batch": each.batch.number, "by": kind, "group": group} | asdict(counts)
            for each in batches
            for kind, group, counts in each.groups()
        ],
    }
