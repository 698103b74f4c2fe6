"""Findings to JSON and back: values of `devicelint.finding`, and nothing that could run.

A folder with a cache may come from anywhere, so that no pickle is read from it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from devicelint import finding
from devicelint.checked import Checked, Met
from devicelint.finding import InputError
from devicelint.source import SourceFile

_CLASSES: dict[str, type[Any]] = {
    each.__name__: each
    for each in (
        finding.Certainty,
        finding.Edit,
        finding.Elsewhere,
        finding.FileEdits,
        finding.Finding,
        finding.Fix,
        finding.Related,
        finding.Safety,
        finding.Severity,
        finding.Span,
        Met,
    )
}


def _to_data(value: Any) -> Any:
    """A value as JSON writes it: a tuple as a list, everything of a class under its name."""
    if isinstance(value, tuple):
        return [_to_data(each) for each in value]
    if isinstance(value, Enum):
        return {type(value).__name__: value.value}
    if is_dataclass(value):
        return {type(value).__name__: [_to_data(getattr(value, f.name)) for f in fields(value)]}
    if value is None or isinstance(value, str | int):
        return value
    raise TypeError(f"a finding holds no {type(value).__name__}")


def _from_data(data: Any) -> Any:
    """The value that was written; raises ValueError or TypeError for anything else."""
    match data:
        case list():
            return tuple(map(_from_data, data))
        case dict():
            ((name, content),) = data.items()
            return _made(name, content)
        case _:
            return data


def _made(name: str, content: Any) -> Any:
    made = _CLASSES.get(name)
    if made is None:
        raise ValueError(f"there is no {name}")
    return made(content) if issubclass(made, Enum) else made(*map(_from_data, content))


def found_data(checked: Checked) -> Any:
    """What was found in a file: all but its text."""
    return [_to_data(getattr(checked, field.name)) for field in fields(Checked)[1:]]


def error_data(error: InputError) -> Any:
    """Why a file cannot be checked."""
    return {"error": [error.line, error.column, error.message, error.cell]}


def checked_of(source: SourceFile, data: Any) -> Checked:
    """What was found in a file; raises InputError where it cannot be checked."""
    if isinstance(data, dict):
        raise InputError(source.path, *data["error"])
    return Checked(source, *map(_from_data, data))
