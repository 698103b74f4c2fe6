"""What a package offers to those who import it: what its `__init__.py` takes from its modules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import libcst as cst

from devicelint.interpreter.callers import Signature, signature_of
from devicelint.workspace.project import Project
from devicelint.workspace.users import may_be_installed

_PACKAGE = "__init__.py"


def is_offered(project: Project, home: str, function: Signature) -> bool:
    """Whether a package around a file has a function of it, as what others are to import.

    What nobody can install, it has for the programs of its own project.
    """
    if Path(home).name == _PACKAGE or not may_be_installed(project, home):
        return False
    if not _is_of_module(project, home, function):
        return False
    name = function[0].partition(".")[0]
    return any(_takes(project, package, home, name) for package in _packages_around(project, home))


def _is_of_module(project: Project, home: str, function: Signature) -> bool:
    """Whether a function stands in its file itself, or is the constructor of a class that does."""
    program, cls = project.program(home), function[0].partition(".")
    if program is None:
        return False
    if cls[1]:
        named = (one.name.value for one in program.tree.body if isinstance(one, cst.ClassDef))
        return cls[0] in named
    return any(signature_of(one) == function for one in program.tree.body)


def _packages_around(project: Project, home: str) -> Iterator[str]:
    """The packages around a file, which rests on them: they are found as imports find them."""
    for level, folder in enumerate(Path(home).parents, start=1):
        package = project.find(home, "", level) if (folder / _PACKAGE).is_file() else None
        if package is None:
            return
        yield package


def _takes(project: Project, package: str, home: str, name: str) -> bool:
    program = project.program(package)
    if program is None:
        return False
    return any(
        _names(one, name) and _leads(project, package, one, home)
        for statement in program.tree.body
        if isinstance(statement, cst.SimpleStatementLine)
        for one in statement.body
        if isinstance(one, cst.ImportFrom)
    )


def _names(taken: cst.ImportFrom, name: str) -> bool:
    if isinstance(taken.names, cst.ImportStar):
        return not name.startswith("_")
    return any(isinstance(one.name, cst.Name) and one.name.value == name for one in taken.names)


def _leads(project: Project, package: str, taken: cst.ImportFrom, home: str) -> bool:
    module = "" if taken.module is None else cst.Module([]).code_for_node(taken.module)
    return project.find(package, module, len(taken.relative)) == home
