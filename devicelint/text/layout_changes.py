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


_PLAIN = frozenset({str, bool, type(None), cst.MaybeSentinel})


def layout_changes(before: cst.Module, after: cst.Module) -> list[LayoutChange] | None:
    """What makes one tree look like another; None where that is one of other code."""
    found: list[LayoutChange] = []
    waiting: list[tuple[object, object]] = [(before, after)]
    try:
        while waiting:
            old, new = waiting.pop()
            if type(old) in _PLAIN:
                if old != new:
                    return None
            elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
                if len(old) != len(new):
                    return None
                waiting += zip(old, new, strict=True)
            elif old is not new:
                found += _changes(old, new, waiting)
    except _Differs:
        return None
    return found


def _changes(
    old: object, new: object, waiting: list[tuple[object, object]]
) -> Iterator[LayoutChange]:
    """How a node itself is laid out in another way; what it consists of waits."""
    if type(old) is not type(new) or not isinstance(old, cst.CSTNode):
        raise _Differs
    layout, code = _fields(type(old))
    for name in layout:
        yield LayoutChange(old, name, getattr(new, name))
    if isinstance(old, cst.SimpleStatementLine):
        strings = _string_alone(old), _string_alone(new)
        if strings[0] is not None and strings[1] is not None:
            yield from _of_strings(strings[0], strings[1])
            return
    waiting += [(getattr(old, name), getattr(new, name)) for name in code]


@functools.cache
def _fields(kind: type[cst.CSTNode]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a kind of node: those that hold lines between statements, and the others."""
    names = [one.name for one in fields(kind)]
    between = _BETWEEN_STATEMENTS if issubclass(kind, _WITH_LINES) else frozenset()
    layout = tuple(one for one in names if one in between)
    return layout, tuple(one for one in names if one not in between)


def _string_alone(statement: object) -> cst.SimpleString | None:
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
