"""Which changes of a file are of device tokens alone."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

from benchmarks.histories.nodes import Statement, statements_of
from benchmarks.histories.residue import residue_of
from benchmarks.histories.words import move

Span: TypeAlias = tuple[int, int, int, int]
"""Lines from, lines up to: in the old file, and in the new one."""

MOVING = (
    "cuda",
    "gpu",
    "cpu",
    "device",
    ".to(",
    "map_location",
    "type_as",
    "new_",
    "_like",
    "buffer",
)
"""What a line has, where an edit is worth a closer look."""


@dataclass(frozen=True)
class Edit:
    """What a change does to devices.

    Attributes:
        before_lines: the lines that went; where lines only came, the two between which they came.
        after_lines: the lines that came.
        text: both, without their numbers.
        whole: the change does nothing else.
    """

    before_lines: tuple[int, ...]
    after_lines: tuple[int, ...]
    text: str
    whole: bool


def edit_of_devices(before: str, after: str, *, parts: bool) -> Edit | None:
    """What a change does to devices: all of it, or with `parts` those edits that are of devices."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if is_of_devices_alone(before, after):
        return _edit(old, new, _edits(old, new), whole=True)
    found = [each for each in _edits(old, new) if parts and _is_of_devices(old, new, each)]
    return _edit(old, new, found, whole=False) if found else None


def _is_of_devices(old: Sequence[str], new: Sequence[str], edit: Span) -> bool:
    """Whether one edit alone makes a change of device tokens."""
    a, b, c, d = edit
    if not any(word in line for line in (*old[a:b], *new[c:d]) for word in MOVING):
        return False
    partly = "".join([*old[:a], *new[c:d], *old[b:]])
    return is_of_devices_alone("".join(old), partly)


def _edits(old: Sequence[str], new: Sequence[str]) -> list[Span]:
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [code[1:] for code in codes if code[0] != "equal"]


def _edit(old: Sequence[str], new: Sequence[str], spans: Iterable[Span], *, whole: bool) -> Edit:
    removed: list[int] = []
    added: list[int] = []
    text: list[str] = []
    for a, b, c, d in spans:
        removed.extend(range(a, b) if a < b else range(max(a - 1, 0), min(a + 1, len(old))))
        added.extend(range(c, d))
        text.extend(["-", *old[a:b], "+", *new[c:d]])
    before, after = (tuple(line + 1 for line in side) for side in (removed, added))
    return Edit(before, after, "".join(text), whole)


def is_of_devices_alone(before: str, after: str) -> bool:
    """Whether two versions of a file differ in device tokens, and in nothing else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(before), ast.parse(after)
        old, new = statements_of(before), statements_of(after)
    except (SyntaxError, ValueError, RecursionError):
        return False
    if residue_of(old) != residue_of(new):
        return False
    return move(_differing(tuple(_rows(old)), tuple(_rows(new))))


def _rows(statements: Iterable[Statement]) -> Iterator[tuple[str, ...]]:
    for statement in statements:
        if statement.tokens[:1] not in (("import",), ("from",)):
            yield statement.tokens
        yield from _rows(statement.body)


def _differing(old: Sequence[tuple[str, ...]], new: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the tokens in which two versions differ."""
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        left = [token for row in old[a:b] for token in row]
        right = [token for row in new[c:d] for token in row]
        for sort, e, f, g, h in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            if sort != "equal":
                yield from left[e:f]
                yield from right[g:h]
