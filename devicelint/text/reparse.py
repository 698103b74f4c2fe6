"""The tree of a text that somebody is changing: what has not changed in it is not parsed again."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import libcst as cst

from devicelint.finding import InputError
from devicelint.text.layout_changes import layout_changes
from devicelint.text.parse import parse
from devicelint.text.positions import written
from devicelint.text.source import SourceFile


@dataclass(frozen=True, eq=False)
class Parsed:
    """A text and its tree, statement by statement."""

    text: str
    tree: cst.Module
    _known: tuple[int, ...] | None = None
    """The lengths, where they are known from before."""

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        """How many characters each statement of the file takes, with the comments above it."""
        return _lengths(self.tree, self.tree.body) if self._known is None else self._known

    @classmethod
    def of(cls, source: SourceFile) -> Parsed:
        """Parse a text; raises CheckError where it is no Python."""
        return cls(source.text, parse(source))

    def changed(self, source: SourceFile) -> Parsed:
        """The tree of another text, of the statements that stay and those that are parsed anew.

        Raises CheckError where that text is no Python.
        """
        if source.text == self.text:
            return self
        return self._stitched(source) or Parsed.of(source)

    def relaid(self, now: Parsed) -> Parsed | None:
        """The same tree, laid out as that of another text of the same code; None for other code."""
        changes = layout_changes(self.tree, now.tree)
        if changes is None:
            return None
        for change in changes:
            change.make()
        return Parsed(now.text, self.tree, now._known)

    def _stitched(self, source: SourceFile) -> Parsed | None:
        text, starts = source.text, self._starts()
        if starts is None or _UNUSUAL.search(text):
            return None
        head, tail = shared(self.text, text)
        first = max(bisect_right(starts, head - 1) - 1, 0) if head else 0
        last = min(bisect_right(starts, len(self.text) - tail), len(starts) - 1)
        begin = starts[first] if first else 0
        after = len(self.text) - starts[last] if last < len(self._lengths) else 0
        middle = _parsed_alone(text[begin : len(text) - after], self.tree, ends_file=not after)
        if middle is None:
            return None
        whole = _joined(self.tree, middle, first, last if after else None)
        new = _lengths(self.tree, whole.body[first : len(whole.body) - len(self._lengths[last:])])
        lengths = (*self._lengths[:first], *new, *(self._lengths[last:] if after else ()))
        return Parsed(text, whole, lengths)

    def _starts(self) -> list[int] | None:
        """Where each statement begins, and what follows the last; None where they have no place.

        libcst does not give back every blank that it reads.
        """
        header = sum(len(written(self.tree, line)) for line in self.tree.header)
        starts = list(accumulate(self._lengths, initial=header))
        footer = "".join(written(self.tree, line) for line in self.tree.footer)
        rest = len(self.text) - starts[-1] - len(footer)
        missing = 0 if self.tree.has_trailing_newline else -len(self.tree.default_newline)
        return starts if self._lengths and rest in (0, missing) else None


def shared(one: str, other: str) -> tuple[int, int]:
    """How many characters two texts have in common at their beginnings, and then at their ends."""
    head = _common(one, other)
    most = min(len(one), len(other)) - head
    return head, _common(one[len(one) - most :][::-1], other[len(other) - most :][::-1])


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike, found by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _lengths(tree: cst.Module, statements: object) -> tuple[int, ...]:
    assert isinstance(statements, (list, tuple))
    return tuple(len(written(tree, statement)) for statement in statements)


def _parsed_alone(text: str, tree: cst.Module, *, ends_file: bool) -> cst.Module | None:
    """The statements of a text; None where they mean something else among others, or nothing."""
    if not ends_file and (not text.endswith(("\n", "\r")) or text.rstrip().endswith("\\")):
        return None
    try:
        middle = parse(SourceFile(text))
    except InputError:
        return None
    fits = (
        middle.code == text
        and middle.default_newline == tree.default_newline
        and (middle.default_indent == tree.default_indent or not _INDENTED.search(text))
    )
    return middle if fits and middle.body and (ends_file or not middle.footer) else None


_UNUSUAL = re.compile(r"\f|^[ \t]*\\", re.MULTILINE)
"""What libcst may read in another way at the beginning of a file than within it."""
_INDENTED = re.compile(r"^[ \t]", re.MULTILINE)


def _joined(tree: cst.Module, middle: cst.Module, first: int, last: int | None) -> cst.Module:
    body, header = list(middle.body), middle.header
    if first:
        above = [*middle.header, *body[0].leading_lines]
        body[0] = body[0].with_changes(leading_lines=above)
        header = tree.header
    ending = middle if last is None else tree
    return tree.with_changes(
        header=header,
        body=[*tree.body[:first], *body, *(() if last is None else tree.body[last:])],
        footer=ending.footer,
        has_trailing_newline=ending.has_trailing_newline,
    )
