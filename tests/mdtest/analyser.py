"""What the harness asks of the thing under test, so that its own tests can put a fake there."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from tests.mdtest.page import Files


@dataclass(frozen=True)
class Observation:
    """One thing that the analyser said about a line."""

    line: int
    column: int
    """From 1."""
    kind: str
    """`error`, `warning`, `note`, or `revealed`."""
    code: str
    rule: str
    message: str
    fix: str | None = None
    """`safe` or `unsafe` where it has a fix."""

    def __str__(self) -> str:
        if self.kind == "revealed":
            return f"# revealed: {self.message}"
        return f'# {self.kind}: {self.column} [{self.rule}] "{self.message}"'


class NotChecked(Exception):
    """The analyser refused an example, because of one of its lines."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class BadSettings(Exception):
    """The analyser refused the settings, because of one of their lines."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class Analyser(Protocol):
    """Checks one file under the settings of a `toml` block, which may be empty."""

    def rules(self) -> frozenset[str]:
        """The codes and names of all rules."""
        ...

    def among(self, files: Files) -> AbstractContextManager[None]:
        """What is checked from here on lies in a folder with these files."""
        ...

    def check(self, code: str, path: str, settings: str) -> tuple[Observation, ...]:
        """Everything found and revealed."""
        ...

    def fix(self, code: str, path: str, settings: str, *, unsafe: bool) -> str:
        """The code after all safe fixes, or after all fixes."""
        ...

    def adopt(self, code: str, path: str, settings: str) -> tuple[str, str]:
        """The code in the device pattern, and what is left to do, a line for each."""
        ...

    def adopt_all(self, files: Files, settings: str) -> tuple[tuple[str, str], ...]:
        """The same of each of several files, the first of which leads the others."""
        ...

    def report(self, code: str, path: str, settings: str) -> str:
        """What the command line prints about it, without colour."""
        ...
