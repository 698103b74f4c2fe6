"""A recording as one page that needs nothing else: no network, no server, one file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from _device_pages.frame import Frame, resource
from _device_pages.markup import Html, element, joined
from runtime_guard.profiler.recording.recording import Recording
from runtime_guard.profiler.report.advice import worst
from runtime_guard.profiler.report.html.figures import drawing, shares
from runtime_guard.profiler.report.html.lines import (
    advice,
    contents,
    lines,
    mismatches,
    section,
    values,
)
from runtime_guard.profiler.report.html.source import anchors, files, sections
from runtime_guard.profiler.report.html.timeline import timeline
from runtime_guard.profiler.report.tables import WAITING, headline
from runtime_guard.profiler.report.titles import program, titles
from runtime_guard.profiler.report.totals import Summary, summarise

_HERE = "runtime_guard.profiler.report.html"

MOST_ROWS = 400
MOST_NAMES = 200
MOST_MISMATCHES = 100
"""In the page's lists: a run that has more is read from its costliest down."""

TIMES = (
    " Host: how long threads were in the call. Device: how long the device was. "
    "Time: the host's part of the run."
)


def render(recordings: Sequence[Recording]) -> str:
    """Return the page; the files that the recordings name are read as they are now."""
    summary = summarise(recordings)
    parts = list(_sections(recordings, summary))
    listed = contents((identifier, title) for identifier, title, _ in parts)
    return Frame(
        generator="runtime_guard",
        title=f"Device transfers of {program(recordings[0].header)}",
        heading=joined(
            _heading(recordings, summary),
            element("nav", listed, aria_label="Parts of this report"),
        ),
        main=joined(*(section(*part) for part in parts)),
        footer=element(
            "p",
            "Made by ",
            element("code", "python -m runtime_guard report"),
            "." if summary.virtual else f".{TIMES}",
        ),
        style=resource(_HERE, "page.css"),
        script=resource(_HERE, "page.js"),
    ).render()


def _sections(recordings: Sequence[Recording], summary: Summary) -> Iterator[tuple[str, str, Html]]:
    """Identifier, title and content of each part that has something to say."""
    rows = summary.sorted("time")[:MOST_ROWS]
    started = min(recording.header.started for recording in recordings)
    found = files(rows, summary.mismatches[:MOST_MISMATCHES], recordings)
    source, shown = sections(found, started)
    places = anchors(shown)
    drawn = timeline(recordings)
    if summary.mismatches:
        yield "mismatches", "Mismatches", mismatches(summary.mismatches[:MOST_MISMATCHES], places)
    if best := worst(summary):
        yield "advice", "What to do", advice(best, places)
    if drawn.lanes and not summary.virtual:
        yield "time", "Timeline", drawing(drawn, recordings, places)
    if rows:
        waits = summary.synchronisations and not summary.virtual
        waiting = element("p", WAITING, class_="note") if waits else None
        table = lines(rows, len(summary.rows), places, timed=not summary.virtual)
        yield "lines-of-source", "Lines", joined(table, waiting)
    if summary.values:
        yield "names", "Names on several devices", values(summary.values[:MOST_NAMES], places)
    if shown:
        yield "source", "Source", source


def _heading(recordings: Sequence[Recording], summary: Summary) -> Html:
    run, *notes = titles(recordings, summary)
    return joined(
        element("p", run, class_="run"),
        element("h1", _unbroken(headline(summary))),
        shares(summary) if summary.timed else None,
        *(element("p", note, class_="note") for note in notes),
    )


def _unbroken(text: str) -> str:
    """Keep numbers beside what they count."""
    return re.sub(r"(?<=\d) (?=\S)", "\N{NO-BREAK SPACE}", text)
