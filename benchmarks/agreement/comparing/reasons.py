"""Why devices are unknown: reasons without the names in them, as devicelint's code words them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import devicelint

HOLE = "…"
"""Stands for what a reason names."""


@cache
def kind_of_reason(reason: str) -> str:
    """The wording of a reason, with holes for its names; the reason where none fits."""
    fitting = [parts for parts in _wordings() if _fits(reason, parts)]
    if not fitting:
        return reason
    most = max(fitting, key=lambda parts: (sum(len(one) for one in parts), -len(parts)))
    return HOLE.join(most)


def _fits(reason: str, parts: tuple[str, ...]) -> bool:
    """Whether a reason begins and ends as a wording does, with its other parts in order between."""
    first, *between, last = parts
    if len(reason) < len(first) + len(last):
        return False
    if not (reason.startswith(first) and reason.endswith(last)):
        return False
    at, end = len(first), len(reason) - len(last)
    for part in between:
        at = reason.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


@cache
def _wordings() -> tuple[tuple[str, ...], ...]:
    """The f-strings of devicelint's own code, each as the texts around its holes."""
    folder = Path(devicelint.__file__).parent
    found: set[tuple[str, ...]] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and _gives_reason(node):
                found.update(map(_parts, _f_strings(node)))
    return tuple(sorted(one for one in found if len("".join(one).strip()) > 1))


def _gives_reason(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("Unknown", "Unsure")


def _f_strings(call: ast.Call) -> Iterator[ast.JoinedStr]:
    for argument in call.args:
        yield from (one for one in ast.walk(argument) if isinstance(one, ast.JoinedStr))


def _parts(text: ast.JoinedStr) -> tuple[str, ...]:
    parts = [""]
    for one in text.values:
        if isinstance(one, ast.Constant):
            parts[-1] += str(one.value)
        else:
            parts.append("")
    return tuple(parts)
