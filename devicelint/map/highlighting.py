"""Where in a text the comments, strings, keywords and numbers are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Number, Operator, String

from devicelint.text.source import SourceFile

Part = tuple[int, int, str]
"""From a column up to another one, and what stands there."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_KINDS = (
    (Comment, "comment"),
    (String, "string"),
    (Number, "number-literal"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
)


def highlighted(source: SourceFile) -> dict[int, list[Part]]:
    """The parts of each line, in their order."""
    found: dict[int, list[Part]] = {}
    for line, part in _parts(source):
        parts = found.setdefault(line, [])
        start, end, kind = part
        if parts and parts[-1][1:] == (start, kind):
            # A quote and what is quoted are apart to the lexer.
            parts[-1] = parts[-1][0], end, kind
        else:
            parts.append(part)
    return found


def _parts(source: SourceFile) -> Iterator[tuple[int, Part]]:
    text = _LINE_END.sub("\n", source.code)
    line, column = 1, 0
    for _, token, value in PythonLexer().get_tokens_unprocessed(text):
        kind = next((name for tokens, name in _KINDS if token in tokens), "")
        for index, piece in enumerate(value.split("\n")):
            if index:
                line, column = line + 1, 0
            end = column + len(piece)
            # What stands in the place of a magic is no part of the text.
            if piece and kind and source.line_text(line)[column:end] == piece:
                yield line, (column, end, kind)
            column = end
