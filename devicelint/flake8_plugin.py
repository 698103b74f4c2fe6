"""The flake8 plugin `DEV`: errors and warnings, at the columns of the other front ends.

Notes are left out, but for those of rules that the settings switch on: these were asked for.

flake8 imports this module in every run and makes a `Plugin` of every file, so nothing of weight
is imported before a file mentions torch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar

from devicelint.text.screen import names_tensors

if TYPE_CHECKING:
    from devicelint.config import ConfigFinder
    from devicelint.linter.garbage import Pausing
    from devicelint.workspace.project import Project

INTERNAL_ERROR = "DEV900"

Violation = tuple[int, int, str, type]
"""Line from one, column from zero, "CODE message", and the class that says so."""


class Plugin:
    """What flake8 makes of each file and asks for violations."""

    name: ClassVar[str] = "devicelint"
    version: ClassVar[str] = version("devicelint")

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:  # noqa: ARG002 - flake8 passes whole files to who asks for the tree
        self.filename = filename
        self.lines = lines

    def run(self) -> Iterator[Violation]:
        """Yield the violations; an internal error is one of them, never an exception."""
        if not any(map(names_tensors, self.lines)):
            return
        for line, column, message in _violations("".join(self.lines), self.filename):
            yield line, column, message, type(self)


def _violations(text: str, path: str) -> list[tuple[int, int, str]]:
    from devicelint.finding import InputError
    from devicelint.output.internal_error import describe

    try:
        with _pausing()():
            return _found(text, path)
    except InputError as error:
        # That of another file, a configuration, is reported with its place, where this one begins.
        if error.path == path:
            return [(error.line, error.column, f"{INTERNAL_ERROR} {error.message}")]
        return [(1, 0, f"{INTERNAL_ERROR} {error}")]
    except Exception as error:  # noqa: BLE001 - flake8 must go on
        return [(1, 0, f"{INTERNAL_ERROR} internal-error: {describe(error)}")]


def _found(text: str, path: str) -> list[tuple[int, int, str]]:
    from dataclasses import replace
    from pathlib import Path

    from devicelint.finding import Severity
    from devicelint.linter.baseline import without_known
    from devicelint.linter.lint import check
    from devicelint.output.visible import printable
    from devicelint.rule_index import all_facts
    from devicelint.text.source import SourceFile

    config = _config_finder().config_for(Path(path))
    if config.excludes_below(path):
        return []
    # flake8 reads these comments itself, and --disable-noqa must show what they hide.
    source = replace(SourceFile.from_text(text, path), obeys_noqa=False)
    checked = without_known(check(source, config, _project()), config.baseline)
    asked_for = {rule.code for rule in all_facts() if not rule.default}
    return [
        (*source.position(finding.span.start), f"{finding.code} {printable(finding.message)}")
        for finding in checked.findings
        if finding.severity is not Severity.NOTE or finding.code in asked_for
    ]


@cache
def _pausing() -> Pausing:
    from devicelint.linter.garbage import Pausing

    return Pausing()


@cache
def _project() -> Project:
    from devicelint.workspace.project import Project

    return Project()


@cache
def _config_finder() -> ConfigFinder:
    from devicelint.config import ConfigFinder
    from devicelint.rule_index import known_rules

    return ConfigFinder(known_rules())
