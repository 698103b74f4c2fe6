"""Comments that suppress what is found, written into the files."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli import terminal
from devicelint.finding import REVEALED
from devicelint.output import diff
from devicelint.output import known as sentences
from devicelint.output.visible import printable
from devicelint.suppression.unused import CODE as UNUSED
from devicelint.suppression.write import Style, suppress
from devicelint.workspace.files import replace_file

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult
    from devicelint.text.source import SourceFile

NOT_SUPPRESSED = frozenset({REVEALED, UNUSED})
"""What a comment asked for, or is about: another one would be no answer."""


@dataclass
class CommentWriter:
    """Suppresses what is found, file by file."""

    style: Style
    only_shows: bool
    comments: int = 0
    """How many findings have a comment now."""
    files: int = 0

    @classmethod
    def asked_for(cls, options: Namespace) -> CommentWriter:
        """What the options ask for."""
        return cls(Style.NOQA if options.add_noqa else Style.IGNORE, options.diff)

    def filtered(self, checked: CheckResult) -> CheckResult:
        """Write the comments of a file; what is left is to be reported.  Raises InputError."""
        found = [each for each in checked.findings if each.code not in NOT_SUPPRESSED]
        others = [each for each in checked.findings if each.code in NOT_SUPPRESSED]
        suppressed = suppress(checked.source, found, self.style)
        if suppressed.source.text != checked.source.text:
            self._write(checked, suppressed.source)
            self.comments += len(found) - len(suppressed.left)
            self.files += 1
        if self.only_shows:
            for each in suppressed.left:
                place = checked.source.location(each.span.start)
                terminal.say(
                    printable(f"{checked.source.path}:{place}: {each.code} can have no comment")
                )
            return replace(checked, findings=())
        left = sorted((*suppressed.left, *others), key=lambda one: one.span)
        return replace(checked, findings=tuple(left))

    def _write(self, checked: CheckResult, after: SourceFile) -> None:
        if self.only_shows:
            terminal.write_bytes(diff.render(checked.source, after))
        else:
            replace_file(Path(after.path), after.to_bytes())

    def summary(self) -> str:
        """How much was suppressed."""
        return sentences.suppressed(self.comments, self.files, would=self.only_shows)
