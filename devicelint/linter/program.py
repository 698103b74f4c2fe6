"""What every walk begins with, and how one that cannot be ended is reported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from devicelint.config import Config
from devicelint.interpreter import Program
from devicelint.interpreter.engine.budget import BudgetExceeded
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.linter.assumptions import guesses_by
from devicelint.linter.collector import RuleFailed
from devicelint.text.parse import CheckError, GivenUpError, parse, too_deep
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project


def program_of(source: SourceFile, project: Project | None, config: Config | None) -> Program:
    """What is walked: the tree of a source, with what its settings say of unknown names."""
    try:
        tree = parse(source) if project is None else project.tree(source)
    except CheckError as error:
        place = source.location_of_line(error.line, error.column)
        raise CheckError(source.path, *place[:2], error.message, place.cell) from None
    guesses = () if config is None else guesses_by(config)
    says_so = source.document is not None and source.document.needs_accelerator
    requiring: set[object] = {GLOBALS} if says_so else set()
    return Program(tree, source.text, source.path, project, guesses=guesses, requiring=requiring)


@contextmanager
def input_errors(source: SourceFile) -> Iterator[None]:
    """A file that cannot be walked to its end is reported as one that cannot be parsed."""
    try:
        yield
    except RecursionError:
        raise too_deep(source) from None
    except (BudgetExceeded, RuleFailed) as reason:
        raise GivenUpError(source.path, 1, 0, f"is not checked: {reason}") from None
