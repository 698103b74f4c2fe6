"""What every format does: report each file, each problem, and what comes at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from devicelint.output.paint import Paint, plain

if TYPE_CHECKING:
    from devicelint.finding import InputError
    from devicelint.linter.result import CheckResult
    from devicelint.text.source import SourceFile

DEFAULT_WIDTH = 100
UNCHECKED = "unchecked-file"
"""What stands in the place of a rule, for a file that could not be checked."""


@dataclass(frozen=True)
class ReportContext:
    """What a report needs to know besides what was found."""

    paint: Paint = plain
    width: int = DEFAULT_WIDTH
    """Of a line, for people."""
    root: str = ""
    """The folder from which files are named to other programs; empty for the current one."""
    read: Callable[[str], SourceFile | None] = lambda _path: None
    """Another file, of which a fix changes something as well."""
    is_on_disk: bool = True
    """Whether what was checked lies in files, so that commands can be run on them."""


class Reporter:
    """One report of a run.

    Each method returns what is to be written now, so that a format that says one file after the
    other keeps nothing, and one that is a single document says it all at the end.
    """

    has_summary = False
    """Whether the report ends with a summary, so that none is printed beside it."""

    def __init__(self, context: ReportContext) -> None:
        """Nothing was found yet."""
        self.context = context

    def file(self, checked: CheckResult) -> str:  # noqa: ARG002 - most formats are about files
        """Report what was found in a file, or that nothing was."""
        return ""

    def problem(self, problem: InputError) -> str:  # noqa: ARG002 - people read it elsewhere
        """Report what could not be checked, and why."""
        return ""

    def proof(self, proof: dict[str, Any]) -> bool:  # noqa: ARG002 - few formats have room for it
        """Take what a script did on each machine; False where that is printed beside the report."""
        return False

    def end(self) -> str:
        """Report what belongs at the end."""
        return ""
