"""What somebody has changed in a text besides its code: comments, blank lines, and docstrings.

Whatever was found out of a tree is known of its nodes. Where only the layout between statements
has changed, the tree keeps its nodes and takes the new layout, so that all of it stays true.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import chain
from typing import NamedTuple

import libcst as cst

_BETWEEN_STATEMENTS = frozenset(
    {
        *("leading_lines", "lines_after_decorators", "trailing_whitespace"),
        *("header", "footer", "has_trailing_newline"),
    }
)
"""Fields of statements, blocks and files that hold comments, blanks and the ends of lines."""
_WITH_LINES = (
    *(cst.BaseSuite, cst.BaseStatement, cst.Decorator, cst.Else, cst.ExceptHandler),
    *(cst.ExceptStarHandler, cst.Finally, cst.MatchCase, cst.Module),
)


class LayoutChange(NamedTuple):
    """A field of a node that is laid out in another way."""

    node: cst.CSTNode
    field: str
    value: object

    def make(self) -> None:
        """Lay the node out in that way."""
        object.__setattr__(self.node, self.field, self.value)


class _Differs(Exception):
    """The code is another one."""


def layout_changes(before: cst.Module, after: cst.Module) -> list[LayoutChange] | None:
    """What makes one tree look like another; None where that is one of other code."""
    try:
        return list(_changes(before, after))
    except _Differs:
        return None


def _changes(before: cst.CSTNode, after: cst.CSTNode) -> Iterator[LayoutChange]:
    if before is after:
        return
    if type(before) is not type(after):
        raise _Differs
    strings = _strings(before, after)
    if strings is not None:
        yield from _of_strings(*strings)
    has_lines = isinstance(before, _WITH_LINES)
    for name in _fields(type(before)):
        old, new = getattr(before, name), getattr(after, name)
        if has_lines and name in _BETWEEN_STATEMENTS:
            yield LayoutChange(before, name, new)
        elif name != "body" or strings is None:
            yield from _of_parts(old, new)


def _of_parts(old: object, new: object) -> Iterator[LayoutChange]:
    if isinstance(old, cst.CSTNode) and isinstance(new, cst.CSTNode):
        yield from _changes(old, new)
    elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        if len(old) != len(new):
            raise _Differs
        for each in zip(old, new, strict=True):
            yield from _of_parts(*each)
    elif old != new:
        raise _Differs


@functools.cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


_Strings = tuple[cst.SimpleString, cst.SimpleString]


def _strings(before: cst.CSTNode, after: cst.CSTNode) -> _Strings | None:
    """The strings that two statements consist of, as docstrings do; None for others."""
    old, new = _string_alone(before), _string_alone(after)
    return None if old is None or new is None else (old, new)


def _string_alone(statement: cst.CSTNode) -> cst.SimpleString | None:
    match statement:
        case cst.SimpleStatementLine([cst.Expr(cst.SimpleString(lpar=[]) as string, semicolon)]):
            return None if isinstance(semicolon, cst.Semicolon) else string
        case _:
            return None


def _of_strings(old: cst.SimpleString, new: cst.SimpleString) -> Iterator[LayoutChange]:
    if old.value == new.value:
        return
    if old.prefix != new.prefix or not all(map(_is_prose, (old.value, new.value))):
        raise _Differs
    if any(map(_says_something, _lines_of_one(old.value, new.value))):
        raise _Differs
    yield LayoutChange(old, "value", new.value)


def _is_prose(written: str) -> bool:
    return len(written.split()) > 1


def _lines_of_one(old: str, new: str) -> Iterable[str]:
    """The lines that only one of two texts has, with those beside them."""
    before, after = old.splitlines(), new.splitlines()
    head = _common(before, after)
    tail = min(_common(before[::-1], after[::-1]), min(len(before), len(after)) - head)
    first = max(head - _BESIDE, 0)
    last = max(tail - _BESIDE, 0)
    return chain(before[first : len(before) - last], after[first : len(after) - last])


_BESIDE = 4
"""How many lines around a changed one what is said of a parameter may go on."""


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


_WORDS = ("tensor", "torch", "device", "cuda", "cpu", "gpu", "xpu", "mps")


def _says_something(line: str) -> bool:
    """Whether a line of a docstring may say of a parameter that it is a tensor, or of devices."""
    written = line.lower()
    return any(word in written for word in _WORDS)
