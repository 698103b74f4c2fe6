"""A recording as one page that needs nothing else: no network, no server, one file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files as resources

from runtime_guard.profiler.recording.recording import Recording
from runtime_guard.profiler.report.advice import worst
from runtime_guard.profiler.report.html.element import Fragment, element, joined
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
    style, script = _resource("page.css"), _resource("page.js")
    parts = list(_sections(recordings, summary))
    return _filled(
        _resource("page.html"),
        {
            "policy": _policy(style, script),
            "title": _title(recordings),
            "style": style,
            "heading": _heading(recordings, summary),
            "contents": contents((identifier, title) for identifier, title, _ in parts),
            "sections": joined(section(*part) for part in parts),
            "times": "" if summary.virtual else TIMES,
            "script": script,
        },
    )


def _sections(
    recordings: Sequence[Recording], summary: Summary
) -> Iterator[tuple[str, str, Fragment]]:
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
        yield "lines-of-source", "Lines", joined([table, waiting])
    if summary.values:
        yield "names", "Names on several devices", values(summary.values[:MOST_NAMES], places)
    if shown:
        yield "source", "Source", source


def _resource(name: str) -> str:
    return (
        resources("runtime_guard.profiler.report.html").joinpath(name).read_text(encoding="utf-8")
    )


def _filled(template: str, parts: Mapping[str, str | Fragment]) -> str:
    """Put each part where the template names it, in one pass: a part may say what it likes."""
    return re.sub(r"@@(\w+)@@", lambda match: str(parts[match[1]]), template)


def _policy(style: str, script: str) -> str:
    """Let the browser run this script alone, and fetch nothing."""
    return f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _title(recordings: Sequence[Recording]) -> Fragment:
    return joined([f"Device transfers of {program(recordings[0].header)}"])


def _heading(recordings: Sequence[Recording], summary: Summary) -> Fragment:
    run, *notes = titles(recordings, summary)
    return joined(
        [
            element("p", run, class_="run"),
            element("h1", _unbroken(headline(summary))),
            shares(summary) if summary.timed else None,
            *(element("p", note, class_="note") for note in notes),
        ]
    )


def _unbroken(text: str) -> str:
    """Keep numbers beside what they count."""
    return re.sub(r"(?<=\d) (?=\S)", "\N{NO-BREAK SPACE}", text)
