"""The full names of what is imported, and of the functions of a project."""

from __future__ import annotations

import os

import libcst as cst

from devicelint.domain.names import FullName
from devicelint.domain.values import Function, Imported, ImportedName, ProjectModule, Ref, Value
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.run import Run


def name_of_import(run: Run, name: str) -> FullName:
    """What `External.name` says; dots at its beginning count folders upwards."""
    rest = name.lstrip(".")
    level = len(name) - len(rest)
    if not level:
        return FullName(tuple(name.split(".")))
    folder = _parts_of(_path(run, run.frame.home))[:-level]
    return FullName((*folder, *rest.split(".")), is_of_a_file=True)


def name_of_file(run: Run, home: Ref) -> FullName:
    """The name of a file, as a module."""
    return FullName(_parts_of(_path(run, home)), is_of_a_file=True)


def full_name(run: Run, node: cst.BaseExpression) -> FullName | None:
    """The full name of what an expression stands for, where that was imported."""
    if isinstance(node, cst.Attribute):
        owner = full_name(run, node.value)
        return None if owner is None else owner / node.attr.value
    if not isinstance(node, cst.Name):
        return None
    match bound_to(run, node.value):
        case ImportedName(name):
            return name_of_import(run, name)
        case Imported(home, name):
            return name_of_file(run, home) / name
        case ProjectModule(home):
            return name_of_file(run, home)
        case Function() as function:
            return name_of_function(run, function)
        case _:
            return None


def name_of_function(run: Run, function: Function) -> FullName | None:
    """The full name of a function of a file; None for one inside of something else."""
    if function.owner is not None or function.scopes:
        return None
    return name_of_file(run, function.home) / function.name


def written(node: cst.CSTNode) -> str:
    """`self.model` as it is written; empty for what is no name."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    return ".".join((node.value, *reversed(parts))) if isinstance(node, cst.Name) else ""


def bound_to(run: Run, name: str) -> Value | None:
    """What a name is bound to, before an import is followed."""
    frame = run.frame
    for ref in (frame.ref, *frame.scopes, frame.home):
        value = run.state.read(ref, name)
        if value is not None:
            return value
    return None


def _path(run: Run, home: Ref) -> str:
    return os.path.abspath(run.program.path) if home == GLOBALS else str(home)


def _parts_of(path: str) -> tuple[str, ...]:
    parts = path.removesuffix(".py").replace("\\", "/").split("/")
    return tuple(parts[:-1] if parts[-1] == "__init__" else parts)
