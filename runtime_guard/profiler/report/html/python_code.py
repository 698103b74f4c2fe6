"""Python source with its comments, strings and keywords marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Operator, String

from _device_pages.markup import Html, element, joined

_CLASSES = (
    (Comment, "comment"),
    (String, "string"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
)


def highlighted(lines: Sequence[str]) -> list[Html]:
    """The lines one by one."""
    parts: list[list[tuple[str, str]]] = [[]]
    for text, name in _pieces("\n".join(lines)):
        if text == "\n":
            parts.append([])
        elif parts[-1] and parts[-1][-1][1] == name:
            # A quote and what is quoted are apart to the lexer.
            parts[-1][-1] = (parts[-1][-1][0] + text, name)
        else:
            parts[-1].append((text, name))
    return [joined(*map(_marked, line)) for line in parts[: len(lines)]]


def _marked(part: tuple[str, str]) -> str | Html:
    text, name = part
    return element("span", text, class_=name) if name else text


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """What is to be shown, and its class; each end of a line is a piece of its own."""
    for _, token, value in PythonLexer().get_tokens_unprocessed(text):
        name = next((name for tokens, name in _CLASSES if token in tokens), "")
        for index, piece in enumerate(value.split("\n")):
            if index:
                yield "\n", ""
            if piece:
                yield piece, name
