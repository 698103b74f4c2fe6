"""The comments by which people suppress findings, and whole files.

x = model(batch)  # noqa
x = model(batch)  # noqa: DEV101, E501
x = model(batch)  # devicelint: ignore[DEV101, mixed-devices] the loader moves it
x = model(batch)  # devicelint: ignore
# devicelint: skip-file
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from devicelint.finding import Span
from devicelint.text.comments import CommentLayout
from devicelint.text.selectors import specificity

_WORD = "devicelint:"
_NOQA = re.compile(r"#\s*noqa\b(?P<codes>:\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?", re.IGNORECASE)
_NOQA_CODE = re.compile(r"[A-Z]+[0-9]+", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*devicelint:\s*ignore(?![\w-])(?P<codes>\s*\[[^\]]*)?", re.IGNORECASE)
_IGNORE_CODE = re.compile(r"[^\s,\[][^,\[]*(?<!\s)")
_SKIP_FILE = re.compile(r"#\s*devicelint:\s*skip-file(?![\w-])", re.IGNORECASE)
_OURS = re.compile(rb"#\s*devicelint:\s*ignore|#\s*noqa\b.*\bDEV[0-9]", re.IGNORECASE)
_LEADING_LINE = re.compile(r"[ \t\f]*(?P<comment>#[^\r\n]*)?(?:\r\n|\r|\n|\Z)")


@dataclass(frozen=True)
class Suppression:
    """A comment that suppresses the rules that it names on its line: all where it names none."""

    comment: Span
    selectors: tuple[tuple[str, Span], ...] | None
    known_to_us: bool
    """Whether each selector should be a rule of ours; `noqa` also names those of other tools."""
    written: Span
    """The part of the comment that says so, without the reason that may follow."""

    def covers(self, code: str, name: str) -> bool:
        """Whether it suppresses the rule."""
        if self.selectors is None:
            return True
        return any(specificity(selector, code, name) for selector, _ in self.selectors)


def mentions_suppression(text: str) -> bool:
    """Whether it is worth to look for the comments of `text`: a cheap answer, never a wrong no."""
    return _mentions(text, "noqa", _WORD)


def mentions_ours(text: str) -> bool:
    """Whether any of them may be one that only devicelint reads."""
    return _mentions(text, _WORD)


def _mentions(text: str, *words: str) -> bool:
    if text.isascii():  # A tenth of the time that the other way takes.
        lower = text.lower()
        return any(word in lower for word in words)
    return re.search("|".join(words), text, re.IGNORECASE) is not None


def suppressions(text: str, layout: CommentLayout) -> Iterator[Suppression]:
    """The suppressions in the comments of `text`."""
    for comment in layout.comments:
        for directive, code, ours in (
            (_NOQA, _NOQA_CODE, False),
            (_IGNORE, _IGNORE_CODE, True),
        ):
            if match := directive.search(text, comment.start, comment.end):
                closed = ours and match["codes"] and text[match.end() : match.end() + 1] == "]"
                written = Span(match.start(), match.end() + bool(closed))
                yield Suppression(comment, _selectors(text, match, code), ours, written)


def names_rules(data: bytes) -> bool:
    """Whether a comment may name a rule of ours, or all of them: cheap, never a wrong no."""
    return _OURS.search(data) is not None


def skips_file(text: str) -> bool:
    """Whether a comment before the first statement says to skip the file."""
    if "devicelint:" not in text.lower():
        return False
    position = 0
    while position < len(text) and (line := _LEADING_LINE.match(text, position)):
        if line["comment"] and _SKIP_FILE.search(line["comment"]):
            return True
        position = line.end()
    return False


def _selectors(
    text: str, directive: re.Match[str], code: re.Pattern[str]
) -> tuple[tuple[str, Span], ...] | None:
    if directive["codes"] is None:
        return None
    named = code.finditer(text, directive.start("codes"), directive.end("codes"))
    return tuple((each[0], Span(each.start(), each.end())) for each in named)
