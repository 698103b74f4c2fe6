"""What to do about a line that copies or waits: one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from runtime_guard.profiler.report.source import read_source
from runtime_guard.profiler.report.totals import Row, Summary
from runtime_guard.profiler.report.words import devices, rate, size

WORTH_A_WORD = 0.001
"""Of the run's time: a line below it is left in peace."""

SMALL = 4096
"""Bytes: what a smaller copy costs is its start, whatever it carries."""

READS = frozenset("item float int complex index tolist numpy asarray repr format print".split())
DECIDES = frozenset("bool is_nonzero equal allclose".split())
SELECTS = frozenset("nonzero argwhere masked_select unique unique_consecutive x[mask]".split())
BUILDS = frozenset("tensor as_tensor new_tensor".split())

MADE_HERE = re.compile(
    r"\b(?:torch|np|numpy)\.(?:tensor|as_tensor|from_numpy|zeros|ones|full|empty|arange|linspace"
    r"|eye|rand|randn|randint|randperm)\("
)


@dataclass(frozen=True, slots=True)
class Advice:
    """One sentence, and the lines it is for."""

    text: str
    rows: tuple[Row, ...]

    @property
    def share(self) -> float:
        """The part of the run's time that these lines took."""
        return sum(row.share for row in self.rows)


def advise(row: Row, line: str) -> str:
    """Say what to write instead; empty where nothing better is known.

    Args:
        row: what was recorded at the line.
        line: its text, empty where it is not known.
    """
    for applies, text in _CASES:
        if applies(row, line):
            return text(row)
    return ""


def worst(summary: Summary, limit: int = 5) -> list[Advice]:
    """What can be done about the costliest lines, what saves most first; times have to say so."""
    if summary.virtual:
        return []
    found: dict[str, list[Row]] = {}
    for row in summary.sorted("time"):
        if row.share < WORTH_A_WORD:
            break
        text = advise(row, read_source(row.file).text(row.line))
        if text and (text in found or len(found) < limit):
            found.setdefault(text, []).append(row)
    advice = [Advice(text, tuple(rows)) for text, rows in found.items()]
    return sorted(advice, key=lambda each: each.share, reverse=True)


def _name(row: Row) -> str:
    """`float` of `float()`, `item` of `Tensor.item`."""
    return row.op.removesuffix("()").rpartition(".")[2].strip("_")


def _written(row: Row) -> str:
    """The call as it stands in the source: `.item()`."""
    name = row.op.removesuffix("()")
    if name.startswith("Tensor."):
        return f".{name.removeprefix('Tensor.')}()"
    return row.op if not name.isidentifier() else f"{name}()"


def _every_step(row: Row) -> bool:
    return row.per_step is not None and row.per_step >= 0.5


def _often(row: Row) -> str:
    if row.per_step is None or row.per_step < 0.5:
        return ""
    return " at every step" if row.per_step < 1.5 else f" {rate(row.per_step)} times a step"


def _each(row: Row) -> str:
    return size(row.bytes / max(row.count, 1))


def _is_sync(row: Row, names: frozenset[str]) -> bool:
    return row.kind == "sync" and _name(row) in names


def _is_small_and_frequent(row: Row) -> bool:
    return (row.per_step or 0) >= 4 and row.bytes < SMALL * row.count


def _is_same_in_forward(row: Row) -> bool:
    return row.function == "forward" and _every_step(row) and row.bytes % max(row.count, 1) == 0


Case = tuple[Callable[[Row, str], bool], Callable[[Row], str]]

# The first that applies speaks.
_CASES: tuple[Case, ...] = (
    (
        lambda row, _: row.kind == "index",
        lambda row: (
            f"The index is on the CPU and is copied to {devices(row.targets)} at each use: move it "
            "there once, where it is made."
        ),
    ),
    (
        lambda row, _: _is_sync(row, READS),
        lambda row: (
            f"`{_written(row)}` waits for the device{_often(row)}: keep the sum on the device "
            "(`total += loss.detach()`) and read it once an epoch."
        ),
    ),
    (
        lambda row, _: _is_sync(row, DECIDES),
        lambda row: (
            f"A condition on a tensor waits for the device{_often(row)}: use `torch.where`, or "
            "test only every so many steps."
        ),
    ),
    (
        lambda row, _: _is_sync(row, SELECTS),
        lambda row: (
            f"The size of the result waits for the device{_often(row)}: keep the shape, with "
            "`torch.where(mask, x, 0)` or a product with the mask."
        ),
    ),
    (
        lambda row, _: _is_sync(row, frozenset({"synchronize"})),
        lambda row: (
            f"Waits for everything the device has to do{_often(row)}, which only timing needs: "
            "leave it out, or time with `torch.cuda.Event`."
        ),
    ),
    (
        lambda row, _: row.kind == "sync",
        lambda row: (
            f"`{_written(row)}` waits for the device{_often(row)}: do it once an epoch, or not at "
            "all."
        ),
    ),
    (
        lambda row, _: row.targets == ("cpu",) and _every_step(row),
        lambda row: (
            f"Copying to the CPU waits for the device{_often(row)}: keep the result where it is "
            "and copy once, after the loop."
        ),
    ),
    (
        lambda row, _: row.targets == ("cpu",),
        lambda _: (
            "Each copy to the CPU waits for the device: collect on the device and copy once, or "
            "copy into pinned memory with `non_blocking=True`."
        ),
    ),
    (
        lambda row, _: "cpu" not in row.sources,
        lambda row: (
            f"Crosses from device to device{_often(row)}: put the layers that meet here on one "
            "device."
        ),
    ),
    (
        lambda row, _: row.op.startswith("Module."),
        lambda row: (
            f"Moves a whole module{_often(row)}: move it once, before the loop."
            if _every_step(row)
            else ""
        ),
    ),
    (
        lambda row, _: _name(row) in BUILDS,
        lambda row: (
            f"Copies values of Python to the device{_often(row)}: make the tensor once, outside "
            "the loop, or of values that are there already."
            if row.count > 1
            else ""
        ),
    ),
    (
        lambda _, line: MADE_HERE.search(line) is not None,
        lambda row: f"Made on the CPU and copied{_often(row)}: make it there, with `device=`.",
    ),
    (
        lambda row, _: _is_same_in_forward(row),
        lambda row: (
            f"Copies {_each(row)}{_often(row)}: if they stay the same, register them as a buffer, "
            "and they move once, with the model."
        ),
    ),
    (
        lambda row, _: _is_small_and_frequent(row),
        lambda row: (
            f"Copies {_each(row)}{_often(row)}: put them into one tensor on the CPU and copy once."
        ),
    ),
    (
        lambda row, line: row.count > 1 and "non_blocking" not in line,
        lambda _: (
            "Let the copy run beside the computation: `pin_memory=True` in the DataLoader and "
            "`non_blocking=True` here."
        ),
    ),
)
