"""The full names of what is imported, and of the functions of a project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from devicelint.domain.values import External, Function, Imported, ProjectModule, Ref, Value
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.run import Run

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class FullName:
    """`mypkg.data.loader`, as its parts; of a file of the project, with the folders above it."""

    parts: tuple[str, ...]
    is_of_a_file: bool = False

    def among(self, table: Mapping[str, Entry]) -> Entry | None:
        """What a table has under this name."""
        key = self.key_in(table)
        return None if key is None else table[key]

    def key_in(self, table: Mapping[str, object]) -> str | None:
        """How a table calls this.

        What lies in a file is called by as many of its folders as whoever names it likes.
        """
        whole = ".".join(self.parts)
        if not self.is_of_a_file:
            return whole if whole in table else None
        return next((one for one in table if "." in one and f".{whole}".endswith(f".{one}")), None)

    def __truediv__(self, name: str) -> FullName:
        """The name of something in this."""
        return FullName((*self.parts, name), self.is_of_a_file)

    @classmethod
    def of_import(cls, run: Run, name: str) -> FullName:
        """What `External.name` says; dots at its beginning count folders upwards."""
        rest = name.lstrip(".")
        level = len(name) - len(rest)
        if not level:
            return cls(tuple(name.split(".")))
        folder = _parts_of(_path(run, run.frame.home))[:-level]
        return cls((*folder, *rest.split(".")), is_of_a_file=True)

    @classmethod
    def of_file(cls, run: Run, home: Ref) -> FullName:
        """The name of a file, as a module."""
        return cls(_parts_of(_path(run, home)), is_of_a_file=True)


def full_name(run: Run, node: cst.BaseExpression) -> FullName | None:
    """The full name of what an expression stands for, where that was imported."""
    if isinstance(node, cst.Attribute):
        owner = full_name(run, node.value)
        return None if owner is None else owner / node.attr.value
    if not isinstance(node, cst.Name):
        return None
    match _bound(run, node.value):
        case External(name):
            return FullName.of_import(run, name)
        case Imported(home, name):
            return FullName.of_file(run, home) / name
        case ProjectModule(home):
            return FullName.of_file(run, home)
        case Function() as function:
            return name_of_function(run, function)
        case _:
            return None


def name_of_function(run: Run, function: Function) -> FullName | None:
    """The full name of a function of a file; None for one inside of something else."""
    if function.owner is not None or function.scopes:
        return None
    return FullName.of_file(run, function.home) / function.name


def written(node: cst.CSTNode) -> str:
    """`self.model` as it is written; empty for what is no name."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    return ".".join((node.value, *reversed(parts))) if isinstance(node, cst.Name) else ""


def _bound(run: Run, name: str) -> Value | None:
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
