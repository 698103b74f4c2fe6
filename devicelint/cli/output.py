"""Where findings go, and in which format."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devicelint.checked import Checked
from devicelint.cli import terminal
from devicelint.cli.report_root import report_root
from devicelint.cli.usage import UsageError
from devicelint.finding import InputError
from devicelint.reporters import formats
from devicelint.reporters.paint import plain
from devicelint.reporters.report import DEFAULT_WIDTH, Scene
from devicelint.reporters.visible import printable

if TYPE_CHECKING:
    from devicelint.engine import Fixed
    from devicelint.source import SourceFile


_STANDARD_OUTPUT = ("-", "/dev/stdout")


def refuse_contradictions(options: Namespace) -> None:
    """Say before anything is done what cannot be written, or not there; raises UsageError."""
    if options.statistics:
        from devicelint.reporters.statistics import FORMATS

        if options.output_format not in FORMATS:
            raise UsageError(
                f"--statistics counts as {', '.join(FORMATS)}, not as {options.output_format}"
            )
    if options.output_file is not None:
        from devicelint.cli.report_file import complaint_about

        if complaint := complaint_about(options.output_file):
            raise UsageError(complaint)


class Output:
    """Writes what a run finds, in the format and to the place that the options name."""

    def __init__(self, options: Namespace) -> None:
        """Open the place; raises UsageError or InputError where nothing can be written there."""
        refuse_contradictions(options)
        self.options = options
        # With --fix, standard output is the mended text of what - read.
        writes = options.fix and not (options.diff or options.check)
        prints_source = writes and "-" in options.paths
        self.file = None
        self.stream = sys.stderr if prints_source else sys.stdout
        if options.output_file not in (None, *_STANDARD_OUTPUT):
            from devicelint.cli.report_file import ReportFile

            self.file = self.stream = ReportFile(options.output_file)
        self.report = formats.report(options.output_format, self._scene(writes))

    def _scene(self, writes: bool) -> Scene:
        return Scene(
            paint=plain if self.file else terminal.paint_for(self.stream),
            width=DEFAULT_WIDTH if self.file else terminal.width_of(self.stream, DEFAULT_WIDTH),
            root=str(report_root()),
            # What is told at the end of files that are changed meanwhile would no longer be true.
            read=_unread if writes else _read,
        )

    def show(self, checked: Checked) -> None:
        """Print what was found in one file."""
        if self.options.verbose:
            count = len(checked.findings)
            terminal.say(printable(f"{checked.source.path}: {count} found"))
        if not (self.options.statistics or self.options.diff):
            told = self.report.file(checked)
            if told:
                terminal.make_room()
            self.stream.write(told)

    def show_problem(self, problem: InputError) -> None:
        """Put into the report what could not be checked; people are told of it elsewhere."""
        if not (self.options.statistics or self.options.diff):
            self.stream.write(self.report.problem(problem))

    def show_fixed(self, fixed: Fixed, is_stdin: bool, unsafe_fixes: bool) -> None:
        """Print what changed, and what is left and why."""
        if self.options.diff:
            from devicelint.reporters import diff

            self._write_bytes(diff.render(fixed.before, fixed.after))
        else:
            if is_stdin:
                terminal.write_bytes(fixed.after.to_bytes())
            self.show(Checked(fixed.after, fixed.remaining))
        self._tell_fixes(fixed, unsafe_fixes)

    def _write_bytes(self, data: bytes) -> None:
        if self.file is None:
            terminal.write_bytes(data)
        else:
            self.file.buffer.write(data)

    def _tell_fixes(self, fixed: Fixed, unsafe_fixes: bool) -> None:
        """Say, in a line each, what was mended, and what was not, and why not."""
        from devicelint.reporters import fixing

        if self.options.quiet:
            return
        if not (self.options.diff or self.options.check):
            for line in (*fixing.done(fixed), *fixing.left(fixed, unsafe_fixes)):
                terminal.say(line)
        else:
            for line in fixing.rolled_back(fixed):
                terminal.say(line)
        if self.options.verbose:
            for line in fixing.silenced(fixed):
                terminal.say(line)

    def show_proof(self, proof: dict[str, Any], *, among_others: bool = False) -> None:
        """Print what the script did on each machine, or leave it to the report."""
        from devicelint.reporters import proof as reporter

        if self.options.diff or not self.report.proof(proof):
            for_people = self.options.output_format in formats.FOR_PEOPLE
            stream = self.stream if for_people and not self.options.diff else sys.stderr
            sys.stdout.flush()
            width = terminal.width_of(stream, reporter.DEFAULT_WIDTH)
            if among_others:
                stream.write(f"{printable(proof['script'])}\n")
            stream.write(reporter.render(proof, terminal.paint_for(stream), width))
        for problem in proof["problems"]:
            terminal.say(printable(f"devicelint: not proven: {problem}"))

    def close(self, found: Sequence[Checked]) -> None:
        """Print what is printed of all files together; raises InputError where it cannot be."""
        if self.options.statistics:
            from devicelint.reporters import statistics

            self.stream.write(statistics.FORMATS[self.options.output_format](found))
        elif not self.options.diff:
            self.stream.write(self.report.end())
        if self.file is not None:
            self.file.commit()


def _read(path: str) -> SourceFile | None:
    from devicelint.files import read_source

    try:
        return read_source(Path(path))
    except InputError:
        return None


def _unread(_path: str) -> None:
    return None
