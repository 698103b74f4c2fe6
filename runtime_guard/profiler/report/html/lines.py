"""The page's lists: what to do, mismatches, the lines of source, names on several devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from _device_pages.markup import Html, element, joined
from runtime_guard.profiler.report.advice import Advice
from runtime_guard.profiler.report.mismatches import Misplaced, Place
from runtime_guard.profiler.report.totals import Row, Value
from runtime_guard.profiler.report.words import (
    amount,
    counted,
    devices,
    duration,
    percent,
    printable,
    rate,
    short_path,
    size,
)

Places: TypeAlias = Mapping[tuple[str, int], str]
"""The identifiers of the source lines that are in the page."""

KIND_NAMES = {"copy": "copy", "sync": "wait", "index": "index"}


def advice(found: Sequence[Advice], places: Places) -> Html:
    """What to do about the costliest lines."""
    return element("ol", *(_advised(each, places) for each in found), class_="advice")


def _advised(each: Advice, places: Places) -> Html:
    at = dict.fromkeys((row.file, row.line) for row in each.rows)
    links = [joined(link(file, line, places), " ") for file, line in at]
    return element(
        "li",
        element("span", percent(each.share), class_="share"),
        element("div", element("p", _coded(each.text)), element("p", *links, class_="where")),
    )


def _coded(text: str) -> Html:
    """What is between backticks, as code."""
    parts = text.split("`")
    return joined(
        *(element("code", part) if number % 2 else part for number, part in enumerate(parts))
    )


def mismatches(found: Sequence[Misplaced], places: Places) -> Html:
    """What a guard found during the run."""
    return element("ul", *(_mismatch(each, places) for each in found), class_="mismatches")


def _mismatch(each: Misplaced, places: Places) -> Html:
    at = [
        element("p", name, " ", _link_to(place, places), class_="where")
        for place, name in {each.entered_at: "entered at", each.failed_at: "failed at"}.items()
        if place
    ]
    ranks = f"Seen by {', '.join(each.ranks[:4])}" if each.ranks else ""
    more = f" and {len(each.ranks) - 4} more" if len(each.ranks) > 4 else ""
    return element(
        "li",
        element("p", printable(each.what), class_="what"),
        element("p", f"Expected on {printable(each.expected)}."),
        *at,
        element("p", _coded(printable(each.advice)), class_="do") if each.advice else None,
        element("p", printable(ranks + more), class_="where") if ranks else None,
    )


def _link_to(place: Place, places: Places) -> Html:
    text = element("code", printable(place.text), class_="quoted") if place.text else None
    return joined(link(place.file, place.line, places), " ", text)


def link(file: str, line: int, places: Places) -> Html:
    """`train.py:38`, leading to the line where the page has it."""
    text = f"{short_path(file)}:{line}"
    if anchor := places.get((file, line)):
        return element("a", text, href=f"#{anchor}")
    return element("span", text, class_="path")


_COLUMNS = (
    ("Line", "text", "none"),
    ("Call", "text", "none"),
    ("Kind", "text", "none"),
    ("Share", "number", "none"),
    ("Host", "number", "descending"),
    ("Device", "number", "none"),
    ("Count", "number", "none"),
    ("A step", "number", "none"),
    ("Bytes", "number", "none"),
    ("From", "text", "none"),
    ("To", "text", "none"),
)


TIMES = frozenset({"Share", "Host", "Device"})


def lines(rows: Sequence[Row], total: int, places: Places, *, timed: bool = True) -> Html:
    """Every line and call, in a table that the script sorts.

    Args:
        rows: those that are shown.
        total: how many there are.
        places: the identifiers of source lines in the page.
        timed: with the columns of times.
    """
    head = element(
        "tr",
        *(
            element(
                "th",
                element("button", name, type="button"),
                scope="col",
                class_=kind,
                aria_sort=order,
            )
            for name, kind, order in _COLUMNS
            if timed or name not in TIMES
        ),
    )
    body = element("tbody", *(_row(row, places, timed) for row in rows))
    table = element("table", element("thead", head), body, id="lines", class_="lines")
    more = f"and {counted(total - len(rows), 'more line')}" if total > len(rows) else ""
    return joined(_scrolling(table, "All lines"), element("p", more) if more else None)


def _row(row: Row, places: Places, timed: bool) -> Html:
    place = f"{row.file}:{row.line:09d}"
    kind = KIND_NAMES.get(row.kind, row.kind)
    cells = (
        _cell(link(row.file, row.line, places), place, "text"),
        _cell(element("code", printable(row.op)), row.op, "text"),
        _cell(element("span", kind, class_=f"kind {row.kind}"), kind, "text"),
        _cell(percent(row.share), row.share),
        _cell(duration(row.host_us), row.host_us),
        _cell(duration(row.device_us), row.device_us),
        _cell(amount(row.count), row.count),
        _cell(rate(row.per_step), row.per_step),
        _cell(size(row.bytes), row.bytes),
        _cell(devices(row.sources), " ".join(row.sources), "text"),
        _cell(devices(row.targets), " ".join(row.targets), "text"),
    )
    shown = zip(_COLUMNS, cells, strict=True)
    return element("tr", *(cell for (name, *_), cell in shown if timed or name not in TIMES))


def _cell(shown: str | Html, value: str | float | None, kind: str = "number") -> Html:
    return element("td", shown, class_=kind, data_value=-1 if value is None else value)


def values(found: Sequence[Value], places: Places) -> Html:
    """Names that held tensors of several devices at one line."""
    head = element("tr", *(element("th", name, scope="col") for name in ("Line", "Name", "Seen")))
    body = element("tbody", *(_value(each, places) for each in found))
    return _scrolling(element("table", element("thead", head), body), "Names")


def _value(each: Value, places: Places) -> Html:
    seen = sorted(each.devices.items(), key=lambda item: -item[1])
    where = ", ".join(f"{amount(count)} on {printable(device)}" for device, count in seen)
    return element(
        "tr",
        element("td", link(each.file, each.line, places)),
        element("td", element("code", printable(each.name))),
        element("td", where),
    )


def _scrolling(table: Html, label: str) -> Html:
    """A table that is wider than a telephone scrolls by itself, also by keyboard."""
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=label)


def section(identifier: str, title: str, *content: str | Html | None) -> Html:
    """A part of the page with its heading; the table of contents leads to it."""
    return element(
        "section",
        element("h2", title, id=f"{identifier}-title"),
        *content,
        id=identifier,
        aria_labelledby=f"{identifier}-title",
    )


def contents(parts: Iterable[tuple[str, str]]) -> Html:
    """Links to the parts, by identifier and title."""
    return joined(*(element("a", title, href=f"#{identifier}") for identifier, title in parts))
