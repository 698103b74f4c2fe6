"""What a file that others import does where it is run itself: it shows what it defines."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.interpreter.engine.nodes import parameters_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.machines.around import is_imported_around


def is_demonstration(run: Run, statement: cst.CSTNode) -> bool:
    """Whether a statement is left out where another file of the project imports this one.

    `if __name__ == "__main__":` is about the file that Python was started with.
    """
    if not isinstance(statement, cst.If) or not _asks_its_name(statement.test):
        return False
    return is_imported_around(run)


def is_without_parameters(site: Site) -> bool:
    """Whether a function can be called in one way only, but for what it reads elsewhere."""
    return isinstance(site, cst.FunctionDef) and not parameters_of(site)


def _asks_its_name(test: cst.BaseExpression) -> bool:
    return isinstance(test, cst.Comparison) and any(
        isinstance(one, cst.Name) and one.value == "__name__"
        for one in (test.left, *(target.comparator for target in test.comparisons))
    )
