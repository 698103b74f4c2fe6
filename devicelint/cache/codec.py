"""Findings to JSON and back: values of `devicelint.finding`, and nothing that could run.

A folder with a cache may come from anywhere, so that no pickle is read from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import Field, fields, is_dataclass
from enum import Enum
from typing import Any

from devicelint import finding
from devicelint.finding import InputError
from devicelint.linter.result import CheckResult, Met
from devicelint.text.source import SourceFile

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

_FOUND = fields(CheckResult)[1:]
"""All but the source, which whoever asks has read."""
_PLAIN: dict[str, type[Any]] = {"str": str, "int": int, "bool": bool}
_MANY = "tuple["
_OR_NONE = " | None"


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
    if issubclass(made, Enum):
        return made(content)
    values = tuple(map(_from_data, content))
    _refuse_others(fields(made), values)
    return made(*values)


def _refuse_others(wanted: Iterable[Field[Any]], values: tuple[Any, ...]) -> None:
    for field, value in zip(wanted, values, strict=True):
        if not _is_a(str(field.type), value):
            raise TypeError(f"{field.name} is no {type(value).__name__}")


def _is_a(kind: str, value: Any) -> bool:
    """Whether a value is of a type, as the annotations of findings write such."""
    if kind.endswith(_OR_NONE):
        return value is None or _is_a(kind.removesuffix(_OR_NONE), value)
    if kind.startswith(_MANY):
        inner = kind.removeprefix(_MANY).removesuffix(", ...]")
        return isinstance(value, tuple) and all(_is_a(inner, each) for each in value)
    return isinstance(value, _PLAIN.get(kind) or _CLASSES[kind])


def found_data(checked: CheckResult) -> Any:
    """What was found in a file: all but its text."""
    return [_to_data(getattr(checked, field.name)) for field in _FOUND]


def error_data(error: InputError) -> Any:
    """Why a file cannot be checked."""
    return {"error": [error.line, error.column, error.message, error.cell]}


def checked_of(source: SourceFile, data: Any) -> CheckResult:
    """What was found in a file; raises InputError where it cannot be checked."""
    if isinstance(data, dict):
        raise InputError(source.path, *data["error"])
    values = tuple(map(_from_data, data))
    _refuse_others(_FOUND, values)
    return CheckResult(source, *values)
