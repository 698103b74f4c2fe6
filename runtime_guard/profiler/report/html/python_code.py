"""Python source with its comments, strings and keywords marked."""

from __future__ import annotations

import keyword
import tokenize
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from runtime_guard.profiler.report.html.element import Fragment, element, joined

Span: TypeAlias = tuple[int, int, int, str]
"""Line, first column, column after the last, class."""


def highlighted(lines: Sequence[str]) -> list[Fragment]:
    """The lines one by one; plain from where the file cannot be read as Python."""
    spans: dict[int, list[Span]] = {}
    for span in _spans(lines):
        spans.setdefault(span[0], []).append(span)
    return [_line(text, spans.get(number, ())) for number, text in enumerate(lines, start=1)]


def _line(text: str, spans: Sequence[Span]) -> Fragment:
    parts: list[str | Fragment] = []
    end = 0
    for _, start, stop, name in spans:
        parts += [text[end:start], element("span", text[start:stop], class_=name)]
        end = stop
    return joined([*parts, text[end:]])


def _spans(lines: Sequence[str]) -> Iterator[Span]:
    try:
        for token in tokenize.generate_tokens(iter([f"{line}\n" for line in lines]).__next__):
            if name := _class(token):
                yield from _by_line(token, name, lines)
    except (tokenize.TokenError, SyntaxError):
        return


def _class(token: tokenize.TokenInfo) -> str:
    kind = tokenize.tok_name[token.type]
    if kind == "COMMENT":
        return "comment"
    # Since Python 3.12 a formatted string comes in parts.
    if kind in {"STRING", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"}:
        return "string"
    return "keyword" if kind == "NAME" and keyword.iskeyword(token.string) else ""


def _by_line(token: tokenize.TokenInfo, name: str, lines: Sequence[str]) -> Iterator[Span]:
    (first, start), (last, stop) = token.start, token.end
    for number in range(first, last + 1):
        text = lines[number - 1] if number <= len(lines) else ""
        yield (
            number,
            start if number == first else 0,
            stop if number == last else len(text),
            name,
        )
