"""Where findings go, and in which format."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from devicelint.cli import terminal
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.report_root import report_root
from devicelint.finding import InputError
from devicelint.linter.result import CheckResult
from devicelint.output import formats
from devicelint.output.reporter import DEFAULT_WIDTH, ReportContext, Reporter
from devicelint.output.visible import printable

if TYPE_CHECKING:
    from devicelint.cli.run.report_file import ReportFile
    from devicelint.linter.lint import Fixed
    from devicelint.text.source import SourceFile


_STANDARD_OUTPUT = ("-", "/dev/stdout")


def refuse_contradictions(options: Namespace) -> None:
    """Say before anything is done what cannot be written, or not there; raises UsageError."""
    if options.statistics:
        from devicelint.output.statistics import FORMATS

        if options.output_format not in FORMATS:
            raise UsageError(
                f"--statistics counts as {', '.join(FORMATS)}, not as {options.output_format}"
            )
    if options.output_file is not None or options.report:
        from devicelint.cli.run import report_file

        report_file.refuse_contradictions(options)


class Output:
    """Writes what a run finds, in the formats and to the places that the options name."""

    def __init__(self, options: Namespace) -> None:
        """Open the places; raises UsageError or InputError where nothing can be written there."""
        refuse_contradictions(options)
        self.options = options
        # With --fix, standard output is the fixed text of what - read.
        writes = options.fix and not (options.diff or options.check)
        prints_source = writes and "-" in options.paths
        # What is reported at the end of files that are changed meanwhile would no longer be true.
        self._plain = ReportContext(root=str(report_root()), read=_unread if writes else _read)
        self.file: ReportFile | None = None
        self.stream: TextIO = sys.stderr if prints_source else sys.stdout
        if options.output_file not in (None, *_STANDARD_OUTPUT):
            self.file = self.stream = _opened(options.output_file)
        self.reporter = formats.reporter(options.output_format, self._scene())
        self._besides = [
            (formats.reporter(name, self._plain), _opened(file)) for name, file in options.report
        ]

    def _scene(self) -> ReportContext:
        if self.file is not None:
            return self._plain
        paint = terminal.paint_for(self.stream)
        return replace(
            self._plain, paint=paint, width=terminal.width_of(self.stream, DEFAULT_WIDTH)
        )

    def _reports(self) -> Iterator[tuple[Reporter, TextIO]]:
        """The reports of what is found, each with its place."""
        if not (self.options.statistics or self.options.diff):
            yield self.reporter, self.stream
        yield from self._besides

    @property
    def has_summary(self) -> bool:
        """Whether the report on standard output ends with a summary of its own."""
        is_shown = self.file is None and not (self.options.statistics or self.options.diff)
        return is_shown and self.reporter.has_summary

    def show(self, checked: CheckResult) -> None:
        """Print what was found in one file."""
        if self.options.verbose:
            count = len(checked.findings)
            terminal.say(printable(f"{checked.source.path}: {count} found"))
        for report, stream in self._reports():
            text = report.file(checked)
            if text and stream is self.stream:
                terminal.make_room()
            stream.write(text)

    def show_problem(self, problem: InputError) -> None:
        """Put into the reports what could not be checked; people see it elsewhere."""
        terminal.make_room()
        for report, stream in self._reports():
            stream.write(report.problem(problem))

    def show_fixed(self, fixed: Fixed, is_stdin: bool, unsafe_fixes: bool) -> None:
        """Print what changed, and what is left and why."""
        if self.options.diff:
            from devicelint.output import diff

            self._write_bytes(diff.render(fixed.before, fixed.after))
        else:
            if is_stdin:
                terminal.write_bytes(fixed.after.to_bytes())
            self.show(CheckResult(fixed.after, fixed.remaining))
        self._show_fixes(fixed, unsafe_fixes)

    def _write_bytes(self, data: bytes) -> None:
        if self.file is None:
            terminal.write_bytes(data)
        else:
            self.file.buffer.write(data)

    def _show_fixes(self, fixed: Fixed, unsafe_fixes: bool) -> None:
        """Say, in a line each, what was fixed, and what was not, and why not."""
        from devicelint.output import fixing

        if self.options.quiet:
            return
        if not (self.options.diff or self.options.check):
            for line in (*fixing.done(fixed), *fixing.left(fixed, unsafe_fixes)):
                terminal.say(line)
        else:
            for line in fixing.rolled_back(fixed):
                terminal.say(line)
        if self.options.verbose:
            for line in fixing.suppressed(fixed):
                terminal.say(line)

    def show_proof(self, proof: dict[str, Any], *, among_others: bool = False) -> None:
        """Print what the script did on each machine, or leave it to the report."""
        from devicelint.output import proof as proof_report

        terminal.make_room()
        for problem in proof["problems"]:
            terminal.say(printable(f"devicelint: not proven: {problem}"))
        for report, _ in self._besides:
            report.proof(proof)
        shows_proof = not (self.options.diff or self.options.statistics)
        if not (shows_proof and self.reporter.proof(proof)):
            for_people = self.options.output_format in formats.FOR_PEOPLE
            stream = self.stream if for_people and not self.options.diff else sys.stderr
            sys.stdout.flush()
            width = terminal.width_of(stream, DEFAULT_WIDTH)
            if among_others:
                stream.write(f"{printable(proof['script'])}\n")
            stream.write(proof_report.render(proof, terminal.paint_for(stream), width))

    def close(self, found: Sequence[CheckResult]) -> None:
        """Print what is printed of all files together; raises InputError where it cannot be."""
        if self.options.statistics:
            from devicelint.output import statistics

            self.stream.write(statistics.FORMATS[self.options.output_format](found))
        for report, stream in self._reports():
            stream.write(report.end())
        for file in (self.file, *(file for _, file in self._besides)):
            if file is not None:
                file.commit()


def _opened(name: str) -> ReportFile:
    from devicelint.cli.run.report_file import ReportFile

    return ReportFile(name)


def _read(path: str) -> SourceFile | None:
    from devicelint.workspace.files import read_source

    try:
        return read_source(Path(path))
    except InputError:
        return None


def _unread(_path: str) -> None:
    return None
