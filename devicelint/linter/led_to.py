"""What a script makes go wrong in the files that it imports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from devicelint.config import Config
from devicelint.finding import InputError
from devicelint.linter.lint import check_as_called
from devicelint.linter.result import CheckResult
from devicelint.text.source import SourceFile
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project, home_of


def found_in_imports(
    source: SourceFile, config: Config, project: Project
) -> tuple[CheckResult, ...]:
    """The mistakes in files that a script imports, where it calls what they hold.

    It is known what it imports where the project has seen a check of it.
    """
    others = tuple(_read(source, project))
    if not others:
        return ()
    _, *called = check_as_called(source, others, config, project)
    return tuple(one for one in called if one.findings)


def _read(source: SourceFile, project: Project) -> Iterator[SourceFile]:
    for home in project.imported_from(source):
        if home == home_of(source):
            continue
        try:
            yield project.held(home) or read_source(Path(home))
        except InputError:
            continue
