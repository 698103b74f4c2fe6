"""What a run of the command line finds and changes, kept instead of printed."""

from __future__ import annotations

import io
from argparse import Namespace
from dataclasses import dataclass, replace

from devicelint.cli.run.inputs import STDIN
from devicelint.cli.run.output import Output
from devicelint.linter.lint import Fixed
from devicelint.linter.result import CheckResult
from devicelint.output import diff, fixing, formats
from devicelint.output.brief import BriefFinding, brief


@dataclass(frozen=True)
class FileChange:
    """What became of a file, and whether its unsafe fixes were to be made."""

    fixed: Fixed
    unsafe_fixes: bool

    @property
    def is_real(self) -> bool:
        """Whether the text is another one."""
        return self.fixed.after.text != self.fixed.before.text

    def diff(self) -> str:
        """The unified diff."""
        return diff.render(self.fixed.before, self.fixed.after).decode("utf-8", "replace")

    def left(self) -> list[str]:
        """What is not fixed, and why."""
        return list(fixing.left(self.fixed, self.unsafe_fixes))


class Collected(Output):
    """Takes the place of standard output."""

    def __init__(self, options: Namespace) -> None:
        """Nothing was found yet."""
        super().__init__(options)
        context = replace(self.reporter.context, is_on_disk=STDIN not in options.paths)
        self.reporter = formats.reporter(options.output_format, context)
        self.text = self.stream = io.StringIO()
        self.findings: list[BriefFinding] = []
        self.changes: list[FileChange] = []

    def show(self, checked: CheckResult) -> None:
        """Keep what was found in one file, and write the report."""
        self.findings += brief(checked, self.reporter.context)
        super().show(checked)

    def show_fixed(self, fixed: Fixed, is_stdin: bool, unsafe_fixes: bool) -> None:  # noqa: ARG002 - nothing is printed
        """Keep what changed in one file, and say what is left and why."""
        self.changes.append(FileChange(fixed, unsafe_fixes))
        self._show_fixes(fixed, unsafe_fixes)
