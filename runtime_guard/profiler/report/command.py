"""`python -m runtime_guard report FILE`: a recording as tables, a page or JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime_guard.command_line import BAD_USAGE, Parser, UsageError
from runtime_guard.profiler.recording.recording import Recording, RecordingError, read
from runtime_guard.profiler.report.advice import worst
from runtime_guard.profiler.report.tables import ReportTables, headline
from runtime_guard.profiler.report.totals import Summary, summarise
from runtime_guard.profiler.report.words import printable
from runtime_guard.profiler.report.writing import write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH_ELSEWHERE = 120
"""Columns of what goes to a file or another program."""
UNBROKEN = 100_000
"""Columns where each row of a table is to be one line."""


def report_main(argv: Sequence[str]) -> int:
    """Run the command and return its exit status: 2 where something cannot be read or written."""
    try:
        arguments = _parser().parse_args(argv)
        _report(arguments)
    except UsageError as error:
        sys.stderr.write(f"runtime_guard report: {printable(str(error))}\n")
        return BAD_USAGE
    except BrokenPipeError:
        # Whoever read has seen enough. What is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _report(arguments: argparse.Namespace) -> None:
    path = Path(arguments.file)
    recordings = _recordings(path)
    summary = summarise(recordings)
    if arguments.html is not None:
        from runtime_guard.profiler.report.html.page import render

        _write_page(Path(arguments.html), path, render(recordings))
    if arguments.json:
        print_text(json.dumps(document(recordings, summary), indent=2) + "\n")
    elif arguments.html is not None:
        print_text(f"{headline(summary)}\nWrote {printable(arguments.html)}\n")
    else:
        limit = arguments.limit or None
        has_rules = sys.stdout.isatty()
        tables = ReportTables(recordings, arguments.sort, limit, has_rules)
        print_text(in_terminal(tables, elsewhere=UNBROKEN))


def _parser() -> Parser:
    parser = Parser(
        prog="python -m runtime_guard report",
        description="Shows what a run copied between devices and where it waited for them.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="what --record or runtime_guard.record() wrote")
    add("--html", metavar="OUT", help="write a page with a timeline and the source to OUT")
    add("--json", action="store_true", help="print the totals as one JSON document")
    add("--limit", type=_limit, default=20, metavar="N", help="lines in a table; 0 for all (20)")
    add("--sort", choices=("time", "bytes", "count"), default="time", help="what comes first")
    return parser


def _limit(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _recordings(path: Path) -> tuple[Recording, ...]:
    try:
        return read(path)
    except RecordingError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _write_page(page: Path, recording: Path, text: str) -> None:
    if page.resolve() == recording.resolve():
        raise UsageError(f"--html is {page}: it would overwrite the recording")
    try:
        write_whole(page, text)
    except OSError as error:
        raise UsageError(f"{page}: {error.strerror or error}") from error


def document(recordings: Sequence[Recording], summary: Summary) -> dict[str, Any]:
    """The totals of all processes, for other programs."""
    return {
        "format": 1,
        "processes": [
            {
                **asdict(recording.header),
                "steps": recording.steps,
                "seconds": recording.seconds,
                "complete": recording.complete,
                "dropped": recording.dropped,
            }
            for recording in recordings
        ],
        **(_without_times(asdict(summary)) if summary.virtual else asdict(summary)),
        "share": None if summary.virtual else summary.share,
        "advice": [
            {
                "text": each.text,
                "share": each.share,
                "lines": [{"file": row.file, "line": row.line} for row in each.rows],
            }
            for each in worst(summary)
        ],
    }


def _without_times(summary: dict[str, Any]) -> dict[str, Any]:
    """What a virtual GPU has counted: how long that took says nothing."""
    times = dict.fromkeys(("host_us", "device_us", "share"))
    return {**summary, "rows": [{**row, **times} for row in summary["rows"]]}


def in_terminal(shown: RenderableType, elsewhere: int = WIDTH_ELSEWHERE) -> str:
    """What rich makes of something for standard output.

    It is as wide as the terminal, or as COLUMNS says, and otherwise has `elsewhere` columns.
    """
    from rich.console import Console

    is_known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    width = None if is_known else elsewhere
    console = Console(file=sys.stdout, width=width)
    with console.capture() as captured:
        console.print(shown)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def print_text(text: str) -> None:
    """Write to standard output; what its encoding does not have becomes a question mark."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, errors="replace").decode(encoding))
    sys.stdout.flush()
