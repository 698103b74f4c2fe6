"""`devicelint map`: draws a script, its devices and what moves between them, as one page."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from devicelint.cli import terminal
from devicelint.cli.options.map import map_parser
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import STDIN, named
from devicelint.cli.run.progress import Progress, is_wanted
from devicelint.cli.run.report_file import refuse_programs, refuse_unwritable
from devicelint.cli.run.settings import RunSettings
from devicelint.finding import InputError
from devicelint.map import RecordedRun, draw, read_recording, render, together
from devicelint.output.visible import printable
from devicelint.workspace.atomic_write import write_file

LARGEST_RECORDING = 200 * 2**20


def run(_command: str, words: Sequence[str]) -> int:
    """Write the page and return the exit status."""
    options = map_parser().parse(words)
    _refuse_to_overwrite(options)
    with Progress(wanted=is_wanted()).shown(f"drawing {options.file}"):
        page = _page(options)
    if options.html == STDIN:
        terminal.write_bytes(page)
    else:
        write_file(Path(options.html), page)
    return 0


def _refuse_to_overwrite(options: Namespace) -> None:
    """The page must not take the place of what it is made from, nor of another program."""
    out = Path(options.html)
    for read in (options.file, *options.recording):
        if STDIN not in (options.html, read) and out.exists() and _is_same(out, Path(read)):
            raise UsageError(f"--html {options.html} would write over {read}")
    refuse_programs("--html", options.html, "a page")
    if options.html != STDIN:
        refuse_unwritable("--html", options.html)


def _is_same(one: Path, other: Path) -> bool:
    return other.exists() and one.samefile(other)


def _page(options: Namespace) -> bytes:
    from devicelint.linter import lint
    from devicelint.views import show
    from devicelint.workspace.project import Project

    given = named(options.file, options.stdin_filename)
    config = RunSettings(options).config_for(given.place)
    source = given.source()
    recorded = _recorded(options.recording, source.path)
    project = Project()
    found = lint.check(source, config, project).findings
    picture = draw(source, show.chart(source, project, config), found, recorded)
    return render(picture, source).encode()


def _recorded(paths: Sequence[str], path: str) -> RecordedRun | None:
    if not paths:
        return None
    whole = together(read_recording(_read(Path(one)), one) for one in paths)
    recorded = whole.in_file(path)
    if not recorded.measures:
        files = ", ".join(sorted({Path(file).name for file, _ in whole.spots})) or "nothing"
        message = f"{path}: {' and '.join(paths)} recorded no moves in it, but in: {files}"
        terminal.say(printable(f"devicelint: {message}"))
    return recorded


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_RECORDING:
            raise InputError(str(path), 1, 0, f"is too large: {size / 2**20:.0f} MiB")
        return path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(str(path), 1, 0, message) from None
