"""A recording in a terminal: what was copied, what was waited for, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime_guard.profiler.recording.recording import Recording
from runtime_guard.profiler.report.advice import Advice, worst
from runtime_guard.profiler.report.mismatches import Misplaced
from runtime_guard.profiler.report.titles import titles
from runtime_guard.profiler.report.totals import Order, Row, Summary, summarise
from runtime_guard.profiler.report.words import (
    UNKNOWN,
    amount,
    counted,
    device,
    devices,
    duration,
    percent,
    printable,
    rate,
    short_path,
    size,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

MOST_TARGETS = 3

WAITING = (
    "Waiting includes the work queued before: without the wait, that time is saved only where the "
    "host has more to do."
)


@dataclass(frozen=True, slots=True)
class ReportTables:
    """One run, for `rich.print`.

    Attributes:
        recordings: one a rank.
        order: what the lines are sorted by.
        limit: how many lines are shown; all, if None.
        has_rules: whether a line is drawn below the names of columns.
    """

    recordings: Sequence[Recording]
    order: Order = "time"
    limit: int | None = 20
    has_rules: bool = True

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterable[RenderableType]:
        from rich.table import Table

        for shown in self._shown(options.max_width):
            yield shown if self.has_rules or not isinstance(shown, Table) else _unruled(shown)

    def _shown(self, width: int) -> Iterable[RenderableType]:
        from rich.text import Text

        summary = summarise(self.recordings)
        yield Text("\n".join(titles(self.recordings, summary)), style="dim")
        yield Text(headline(summary), style="bold")
        yield Text()
        yield from _transfers(summary, self.order, self.limit, width)
        yield from _advice(worst(summary))
        yield from _values(summary, self.limit)
        yield from _mismatches(summary.mismatches, self.limit)


def _unruled(table: Table) -> RenderableType:
    """The table without its lines, and the blank line below it, which is one of them."""
    from rich.console import Group
    from rich.text import Text

    if table.box is None:
        return table
    table.box = None
    return Group(table, Text())


def render(recordings: Sequence[Recording], width: int = 100) -> str:
    """Return the tables as text without colour, in so many columns."""
    import io

    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=width,
        color_system=None,
        force_terminal=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        console.print(ReportTables(recordings))
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def headline(summary: Summary) -> str:
    """`3.1 MB to cuda:0 in 120 copies, 400 synchronisations: 12 % of the time; 1 mismatch`."""
    found = len(summary.mismatches)
    return _spent(summary) + (f"; {counted(found, 'mismatch', 'mismatches')}" if found else "")


def _spent(summary: Summary) -> str:
    shown = summary.flows[:MOST_TARGETS]
    parts = [
        f"{size(flow.bytes)} to {device(flow.target)} in {counted(flow.count, 'copy', 'copies')}"
        for flow in shown
    ]
    if hidden := summary.flows[MOST_TARGETS:]:
        copies = counted(sum(flow.count for flow in hidden), "copy", "copies")
        parts.append(
            f"{size(sum(flow.bytes for flow in hidden))} to "
            f"{counted(len(hidden), 'other device')} in {copies}"
        )
    if summary.synchronisations:
        parts.append(counted(summary.synchronisations, "synchronisation"))
    if not parts:
        return "No copies between devices and no synchronisations"
    share = f": {percent(summary.share)} of the time" if summary.timed else ""
    return ", ".join(parts) + (", on a virtual GPU" if summary.virtual else share)


def _transfers(
    summary: Summary, order: Order, limit: int | None, width: int
) -> Iterable[RenderableType]:
    from rich.text import Text

    if not summary.rows:
        return
    columns = [
        each
        for each in _COLUMNS
        if width >= each.from_width and not (each.is_time and summary.virtual)
    ]
    table = titled_table("Transfers and synchronisations")
    for each in columns:
        table.add_column(
            each.name,
            justify="right" if each.is_number else "left",
            no_wrap=each.is_number,
            overflow="fold",
            min_width=None if each.is_number else 9,
        )
    for row in summary.sorted(order)[:limit]:
        table.add_row(*cells([each.text(row) for each in columns]))
    yield table
    yield from _left_out(len(summary.rows), limit, "line")
    waits = summary.synchronisations and not summary.virtual
    yield Text(WAITING + "\n" if waits else "", style="dim")


@dataclass(frozen=True, slots=True)
class _Column:
    """Shown in terminals from so many columns."""

    name: str
    text: Callable[[Row], str]
    from_width: int = 0
    is_number: bool = True
    is_time: bool = False


_COLUMNS = (
    _Column("Line", lambda row: place(row.file, row.line), is_number=False),
    _Column("Call", lambda row: row.op, is_number=False),
    _Column(
        "From → to",
        lambda row: f"{devices(row.sources)} → {devices(row.targets)}",
        from_width=72,
        is_number=False,
    ),
    _Column("Count", lambda row: amount(row.count)),
    _Column("A step", lambda row: rate(row.per_step), from_width=90),
    _Column("Bytes", lambda row: size(row.bytes), from_width=56),
    _Column("Host", lambda row: duration(row.host_us), is_time=True),
    _Column("Device", lambda row: duration(row.device_us), from_width=98, is_time=True),
    _Column("Share", lambda row: percent(row.share), is_time=True),
)


def _advice(found: Sequence[Advice]) -> Iterable[RenderableType]:
    if not found:
        return
    table = titled_table("What to do", header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold", min_width=12)
    table.add_column(overflow="fold")
    for each in found:
        places = ", ".join(dict.fromkeys(place(row.file, row.line) for row in each.rows))
        table.add_row(*cells([percent(each.share), places, each.text + "\n"]))
    yield table


def _values(summary: Summary, limit: int | None) -> Iterable[RenderableType]:
    if not summary.values:
        return
    table = titled_table("Names that held tensors of several devices")
    for name in ("Line", "Name", "Devices"):
        table.add_column(name, overflow="fold")
    for value in summary.values[:limit]:
        seen = sorted(value.devices.items(), key=lambda item: -item[1])
        where = ", ".join(f"{amount(count)} on {name}" for name, count in seen)
        table.add_row(*cells([place(value.file, value.line), printable(value.name), where]))
    yield table
    yield from _left_out(len(summary.values), limit, "name")


def _mismatches(found: Sequence[Misplaced], limit: int | None) -> Iterable[RenderableType]:
    if not found:
        return
    table = titled_table("Mismatches")
    for name in ("Line", "What", "What to do"):
        table.add_column(name, overflow="fold", min_width=12)
    for each in found[:limit]:
        where = place(each.failed_at.file, each.failed_at.line) if each.failed_at else UNKNOWN
        what = f"{each.what}, expected on {each.expected}{_seen_by(each.ranks)}"
        table.add_row(*cells([where, what, each.advice]))
    yield table
    yield from _left_out(len(found), limit, "mismatch", "mismatches")


def _seen_by(ranks: Sequence[str]) -> str:
    if not ranks:
        return ""
    return f" ({ranks[0]})" if len(ranks) == 1 else f" ({len(ranks)} ranks, first {ranks[0]})"


def place(file: str, line: int) -> str:
    """`train.py:38`."""
    return f"{short_path(file)}:{line}"


def titled_table(title: str, header: bool = True) -> Table:
    """A table without rows, as all of them look."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD if header else None,
        show_header=header,
        header_style="dim",
        pad_edge=False,
    )


def cells(texts: Sequence[str]) -> list[Text]:
    """As they are: a file's name may look like markup."""
    from rich.text import Text

    return [Text("\n".join(map(printable, cell.split("\n")))) for cell in texts]


def _left_out(count: int, limit: int | None, noun: str, plural: str = "") -> Iterable[Text]:
    from rich.text import Text

    if limit is not None and count > limit:
        more = count - limit
        yield Text(f"and {amount(more)} more {noun if more == 1 else plural or noun + 's'}")
