"""Which names a piece of code binds, and which one that nobody can read may have changed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_DEFINES = re.compile(r"\b(?:def|class|import|as)[ \t]+([^\W\d]\w*)")
NOBODY = "______"
"""A name that nobody binds: a statement of it stands after each cell."""

_ALWAYS = frozenset({"device"})
"""Names that a fix may bind."""


def assigned(code: str) -> frozenset[str]:
    """The names that are assigned anywhere in Python code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(code)
    return frozenset(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def maybe_changed(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """The names that `text`, which is not understood, may have bound anew or moved."""
    mentioned = set(_WORD.findall(text)) & {*known, *_ALWAYS}
    return tuple(sorted({*mentioned, *_DEFINES.findall(text)} - {"import", "class", "def"}))


def forgetting(names: Iterable[str]) -> str:
    """A statement after which nothing is known of the names."""
    names = tuple(names)
    if not names:
        return NOBODY
    return f"{' = '.join(names)} = {NOBODY}({', '.join(names)})"
