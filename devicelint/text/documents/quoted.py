"""Edits of a block that stands in a block quote, each of whose lines begins with `> `."""

from __future__ import annotations

import re
from collections.abc import Iterator

from devicelint.finding import Edit, Span
from devicelint.text.documents.document import Unwritable

_LINE_END = re.compile(r"(\r\n|\r|\n)")
_REASON = "a line would lose its place in the block quote"


def fitted(page: str, edit: Edit, prefix: str | None) -> Edit:
    """An edit of the code, where `prefix` is blank, as an edit of the page.

    Without a prefix, the lines of the block begin differently, and only what changes within a line
    can be written.  Raises Unwritable for what cannot.
    """
    start, end = edit.span.start, edit.span.end
    first, last = _column(page, start), _column(page, end)
    depth = _depth(page, start)
    is_within_line = not _LINE_END.search(page[start:end] + edit.content)
    if is_within_line and first >= depth:
        return edit
    if prefix is None:
        raise Unwritable("the lines of the block do not all begin alike")
    width = len(prefix)
    if is_within_line and first >= width:
        return edit
    if is_within_line and not edit.content.strip() and last + width - first <= depth:
        return _shifted(edit, width - first)
    if 0 < first < width or 0 < last < width:
        raise Unwritable(_REASON)
    return Edit(edit.span, "".join(_lines(edit.content, prefix, first == 0, last == 0)))


def _lines(content: str, prefix: str, starts_line: bool, ends_line: bool) -> Iterator[str]:
    """What is put in, with the prefix before each line that begins there."""
    parts = _LINE_END.split(content)
    for index in range(0, len(parts), 2):
        line = parts[index]
        is_last = index == len(parts) - 1
        if is_last and ends_line:
            if line or (index == 0 and not starts_line):
                raise Unwritable(_REASON)
        elif index > 0 or starts_line:
            line = _prefixed(line, prefix, is_last)
        yield line
        yield from parts[index + 1 : index + 2]


def _prefixed(line: str, prefix: str, is_last: bool) -> str:
    if not line.strip() and not is_last:
        return prefix.rstrip()
    if line.startswith(prefix):
        return line
    before = line[: len(prefix)]
    if before.strip() or len(before) < len(prefix):
        raise Unwritable(_REASON)
    return prefix + line[len(prefix) :]


def _shifted(edit: Edit, by: int) -> Edit:
    """The same blanks, put in or taken out after the prefix."""
    return Edit(Span(edit.span.start + by, edit.span.end + by), edit.content)


def _depth(page: str, offset: int) -> int:
    """How many columns are before the first character of the code of a line."""
    line = _LINE_END.split(page[offset - _column(page, offset) :], 1)[0]
    return len(line) - len(line.lstrip("> \t"))


def _column(page: str, offset: int) -> int:
    return offset - max(page.rfind("\n", 0, offset), page.rfind("\r", 0, offset)) - 1
