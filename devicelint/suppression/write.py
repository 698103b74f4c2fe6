"""Writes the comments that suppress findings, and nothing else: every other byte stays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from devicelint.finding import Finding, InputError
from devicelint.text.comments import layout
from devicelint.text.noqa import Suppression
from devicelint.text.source import SourceFile


class Style(Enum):
    """How a comment is written."""

    NOQA = "# noqa: {}"
    IGNORE = "# devicelint: ignore[{}]"


@dataclass(frozen=True)
class Suppressed:
    """What became of a file."""

    source: SourceFile
    left: tuple[Finding, ...]
    """The findings for which no comment can stand where it would be read."""


@dataclass(frozen=True)
class _Comment:
    """What a line is to say."""

    findings: tuple[Finding, ...]
    offset: int
    content: str


def suppress(source: SourceFile, findings: Sequence[Finding], style: Style) -> Suppressed:
    """Give each finding a comment on a line that speaks for it."""
    comments = list(_Lines(source, style).comments(findings))
    if not _is_possible(source, comments):
        # A magic of a notebook, say, would become another one: all but such lines.
        comments = [each for each in comments if _is_possible(source, [each])]
    commented = {finding for each in comments for finding in each.findings}
    left = tuple(each for each in findings if each not in commented)
    return Suppressed(source.with_text(_with(source.text, comments)), left)


class _Lines:
    """The lines of a file, and where each takes a comment."""

    def __init__(self, source: SourceFile, style: Style) -> None:
        self._source = source
        self._style = style
        self._comments = {source.position(span.start).line: span for span in source.comments}
        self._ends: dict[int, int | None] = {}

    def comments(self, findings: Iterable[Finding]) -> Iterable[_Comment]:
        """The comments that suppress the findings, as far as there can be any."""
        by_line: dict[int, list[Finding]] = defaultdict(list)
        for finding in findings:
            for line in self._source.lines_that_speak_for(finding.span):
                if self._end(line) is not None:
                    by_line[line].append(finding)
                    break
        for line, those in by_line.items():
            codes = sorted({each.code for each in those})
            yield _Comment(tuple(those), *self._insertion(line, codes))

    def _insertion(self, line: int, codes: Sequence[str]) -> tuple[int, str]:
        """Where something is put in, and what."""
        for suppression in self._source.suppressions_of(line):
            after = self._last_code(suppression)
            if after is not None:
                return after, "".join(f", {code}" for code in codes)
        end = self._end(line)
        assert end is not None
        return end, "  " + self._style.value.format(", ".join(codes))

    def _last_code(self, suppression: Suppression) -> int | None:
        """The end of the last code in a comment of this style that goes on with more of them."""
        if suppression.known_to_us is not (self._style is Style.IGNORE):
            return None
        return suppression.selectors[-1][1].end if suppression.selectors else None

    def _end(self, line: int) -> int | None:
        """Where a line takes a comment; None where there would be none, as inside of a string."""
        if line not in self._ends:
            written = self._source.line_text(line).rstrip()
            end = self._source.offset(line, len(written))
            self._ends[line] = end if line in self._comments or self._is_outside(end) else None
        return self._ends[line]

    def _is_outside(self, end: int) -> bool:
        code = self._source.code
        if code[:end].endswith("\\"):
            return False
        marked = layout(f"{code[:end]}#{code[end:]}")
        return any(comment.start == end for comment in marked.comments)


def _with(text: str, comments: Iterable[_Comment]) -> str:
    for each in sorted(comments, key=lambda comment: comment.offset, reverse=True):
        text = text[: each.offset] + each.content + text[each.offset :]
    return text


def _is_possible(source: SourceFile, comments: Iterable[_Comment]) -> bool:
    try:
        source.with_text(_with(source.text, comments))
    except InputError:
        return False
    return True
