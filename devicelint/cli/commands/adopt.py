"""The command `adopt`: bring training scripts to the device pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from devicelint.cli import terminal
from devicelint.cli.commands.check import Check
from devicelint.cli.options.adopt import adopt_parser
from devicelint.cli.options.contradictions import refuse_contradictions
from devicelint.linter import lint
from devicelint.output import summary
from devicelint.output.visible import printable

if TYPE_CHECKING:
    from devicelint.config import Config
    from devicelint.linter.lint import Fixed
    from devicelint.text.source import SourceFile


def run(_command: str, words: Sequence[str]) -> int:
    """Run `devicelint adopt` with these arguments and return the exit status."""
    options = adopt_parser().parse(words)
    refuse_contradictions(options)
    if options.entry is None:
        return Adoption(options).run()
    from devicelint.cli.commands.adopt_entry import EntryAdoption

    return EntryAdoption(options).run()


class Adoption(Check):
    """One run of `devicelint adopt`: the fixer, with all that brings a file to the pattern."""

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
    def writes(self) -> bool:
        """Whether files are changed where they lie."""
        return not (self.options.diff or self.options.check)

    def close(self) -> None:
        """Say how much was changed, and how much is left to the reader."""
        self.output.close(self.tally.found)
        if self.options.quiet:
            return
        tally = self.tally
        if tally.problems and not tally.fixed:
            return
        left = sum(len(checked.findings) for checked in tally.found)
        terminal.say(
            summary.adopted(
                tally.fixed, tally.fixed_files, tally.files, left, would=not self.writes
            )
        )
