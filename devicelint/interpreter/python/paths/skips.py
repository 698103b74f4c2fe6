"""Marks with which pytest and unittest leave out tests: what they ask is required, not chosen."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import ImportedName, Value
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.machine_choices import note_mark, requiring

_SKIPS = frozenset({"pytest.mark.skipif", "unittest.skipIf", "unittest.skipUnless"})
_OF_A_FILE = "pytestmark"
"""The name whose marks pytest gives to all tests of a file."""


def asking_of(run: Run, callee: Value) -> AbstractContextManager[None]:
    """Evaluate the arguments of a call: those of a mark say where the tests run."""
    if not isinstance(callee, ImportedName) or callee.name not in _SKIPS:
        return nullcontext()
    frame = run.frame
    if frame.ref == GLOBALS and _is_of_file(frame.statement):
        frame.guarded = True
    else:
        note_mark(run)
    return requiring(run)


def _is_of_file(statement: Site) -> bool:
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            return name == _OF_A_FILE
        case _:
            return False
