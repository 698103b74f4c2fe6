"""What a fix changes, as hunks of a unified diff without context."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from devicelint.finding import Edit, Span
from devicelint.output.paths import named_from
from devicelint.output.visible import printable
from devicelint.text.edits import apply

if TYPE_CHECKING:
    from devicelint.finding import Fix
    from devicelint.output.reporter import ReportContext
    from devicelint.text.source import SourceFile

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def hunks(source: SourceFile, fix: Fix, context: ReportContext) -> tuple[str, ...]:
    """Return the lines that a fix removes and adds, hunk by hunk, also in other files.

    Nothing is returned where another file cannot be read: part of a fix is no fix.
    """
    lines = list(_hunks(source, fix.edits))
    for changed in fix.elsewhere:
        other = context.read(changed.path)
        if other is None:
            return ()
        lines.append(f"in {printable(named_from('', changed.path))}:")
        lines += _hunks(other, changed.edits)
    return tuple(lines)


def _hunks(source: SourceFile, edits: Sequence[Edit]) -> Iterator[str]:
    from difflib import SequenceMatcher

    added = 0
    for span, those in _blocks(source, sorted(edits)):
        before = source.text[span.start : span.end]
        old, new = _lines(before), _lines(apply(before, [_moved(e, span.start) for e in those]))
        first = source.position(span.start).line
        for kind, *places in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            start, end, new_start, new_end = places
            if kind == "equal":
                continue
            new_range = _range(first + added + new_start, new_end - new_start)
            yield _header(source, first + start, end - start, new_range)
            yield from (f"-{_shown(line)}" for line in old[start:end])
            yield from (f"+{_shown(line)}" for line in new[new_start:new_end])
        added += len(new) - len(old)


def _blocks(source: SourceFile, edits: Sequence[Edit]) -> Iterator[tuple[Span, list[Edit]]]:
    """Edits that touch the same lines or neighbouring ones, with all of these lines."""
    block: list[Edit] = []
    end = 0
    for edit in edits:
        if block and source.position(edit.span.start).line > end + 1:
            yield _whole_lines(source, block[0], end), block
            block = []
        last = source.position(edit.span.end).line
        end = max(end, last) if block else last
        block.append(edit)
    if block:
        yield _whole_lines(source, block[0], end), block


def _moved(edit: Edit, start: int) -> Edit:
    return Edit(Span(edit.span.start - start, edit.span.end - start), edit.content)


def _whole_lines(source: SourceFile, first: Edit, last: int) -> Span:
    start = source.offset(source.position(first.span.start).line, 0)
    end = len(source.text) if last == source.lines else source.offset(last + 1, 0)
    return Span(start, end)


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)


def _header(source: SourceFile, line: int, count: int, new_range: str) -> str:
    """Name the lines as a unified diff does; in a notebook, those of the cell before the fix."""
    place = source.location_of_line(line, 0)
    old_range = _range(place.line, count)
    if place.cell is not None:
        return f"@@ cell {place.cell} -{old_range} @@"
    return f"@@ -{old_range} +{new_range} @@"


def _range(line: int, count: int) -> str:
    # Where there is no line, a unified diff names the one before.
    return f"{line}" if count == 1 else f"{line - (count == 0)},{count}"


def _shown(line: str) -> str:
    """The line without its end; tabs stay, as they are part of the code."""
    return "\t".join(map(printable, line.rstrip("\r\n").split("\t")))
