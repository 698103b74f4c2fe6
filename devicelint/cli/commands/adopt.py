"""The command `adopt`: bring training scripts to the device pattern."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli import terminal
from devicelint.cli.commands.check import Check
from devicelint.cli.options.adopt import adopt_parser
from devicelint.cli.options.contradictions import refuse_contradictions
from devicelint.linter import lint
from devicelint.output import fixing, summary
from devicelint.output.visible import printable
from devicelint.workspace.project import home_of

if TYPE_CHECKING:
    from argparse import Namespace

    from devicelint.cli.run.inputs import Input
    from devicelint.cli.run.output import Output
    from devicelint.config import Config
    from devicelint.finding import Finding, Span
    from devicelint.linter.lint import Fixed
    from devicelint.linter.result import CheckResult
    from devicelint.text.source import SourceFile


def run(_command: str, words: Sequence[str]) -> int:
    """Run `devicelint adopt` with these arguments and return the exit status."""
    options = adopt_parser().parse(words)
    return adoption(options).run()


def adoption(options: Namespace, output: Output | None = None) -> Adoption:
    """Return the run that the options ask for; raises UsageError."""
    refuse_contradictions(options)
    if options.entry is None and (options.interactive or not _are_several(options.paths)):
        return Adoption(options, output)
    from devicelint.cli.commands.adopt_entry import EntryAdoption, ProgramsAdoption

    return (ProgramsAdoption if options.entry is None else EntryAdoption)(options, output)


def _are_several(paths: Sequence[str]) -> bool:
    return len(paths) > 1 or any(Path(path).is_dir() for path in paths)


class Adoption(Check):
    """One run of `devicelint adopt`: the fixer, with all that brings a file to the pattern."""

    def __init__(self, options: Namespace, output: Output | None = None) -> None:
        """Read the settings that the options name; `output` takes the place of the terminal."""
        super().__init__(options, output)
        self._changed: list[tuple[Input, SourceFile]] = []
        """What was changed, in the order of the run."""

    def config_for(self, config: Config) -> Config:
        """The configuration by which a file is adopted."""
        return config.for_adoption()

    def fix_file(self, source: SourceFile, config: Config) -> Fixed:
        """The file in the device pattern, as far as its source says what that takes."""
        adopted = lint.adopt(source, config, self.project, self.approves)
        self.report_change(adopted)
        return adopted

    def report_change(self, adopted: Fixed) -> None:
        """Name a file that would change, where that is all that is asked for."""
        if self.options.check and adopted.after.text != adopted.before.text:
            terminal.say(printable(f"would change {adopted.after.path}"))

    @property
    def doing(self) -> str:
        """What is done to each file, as the progress of a run says it."""
        return "adopting"

    @property
    def writes(self) -> bool:
        """Whether files are changed where they lie."""
        return not (self.options.diff or self.options.check)

    def show_fixed(self, each: Input, fixed: Fixed) -> None:
        """Count what became of a file, and report it."""
        super().show_fixed(each, fixed)
        if not (self.writes or self.options.quiet):
            self._say_left(each, fixed)
        if fixed.after.text != fixed.before.text:
            self._changed.append((each, fixed.after))

    def _say_left(self, each: Input, fixed: Fixed) -> None:
        """Say, in a line each, what would be left to the reader; what was taken back is said."""
        said = set(fixing.rolled_back(fixed))
        for line in fixing.left(fixed, self.config_of(each).unsafe_fixes):
            if line not in said:
                terminal.say(line)

    def _show_left_in_imports(self) -> None:
        """Report what the adopted scripts make go wrong in files that they import."""
        if not self.writes:
            for _, source in self._changed:
                self.project.hold(source)
        shown = {key for found in self.tally.found for key in _keys(found)}
        for each, source in self._changed:
            for found in lint.check_imports(source, self.config_of(each), self.project):
                new = [one for key, one in _keys(found).items() if key not in shown]
                shown.update(_keys(found))
                if new:
                    self._show_left(each, replace(found, findings=tuple(new)))

    def _show_left(self, each: Input, found: CheckResult) -> None:
        """Report what is left in a file that a script imports, and how both are adopted."""
        path = os.path.relpath(found.source.path)
        found = replace(found, source=replace(found.source, path=path))
        self.tally.count_left(found, self.config_of(each))
        if self.writes:
            self.output.show(found)
        folder = os.path.relpath(os.path.commonpath(map(os.path.abspath, (each.path, path))))
        together = f"devicelint adopt {folder} --entry {each.path}"
        for one in found.findings:
            place = found.source.location(one.span.start)
            said = f"{path}:{place}: left {one.code}: {each.path} leads here"
            terminal.say(printable(f"{said}, and `{together}` takes both"))

    def close(self) -> None:
        """Say how much was changed, and how much is left to the reader."""
        self._show_left_in_imports()
        self.output.close(self.tally.found)
        if self.options.quiet:
            return
        tally = self.tally
        if tally.problems and not tally.fixed:
            return
        left = sum(len(checked.findings) for checked in tally.found)
        terminal.say(
            summary.adopted(
                tally.fixed,
                tally.fixed_files,
                tally.files,
                left,
                tally.passed_over,
                would=not self.writes,
            )
        )


def _keys(found: CheckResult) -> dict[tuple[str, str, Span], Finding]:
    """The findings of a file, by what tells them from all others."""
    home = home_of(found.source)
    return {(home, one.code, one.span): one for one in found.findings}
