"""Where in a text the comments, strings, keywords and numbers are."""

from __future__ import annotations

import io
import keyword
import token
import tokenize
from collections.abc import Iterator

from devicelint.text.source import SourceFile

Part = tuple[int, int, str]
"""From a column up to another one, and what stands there."""

_KINDS = {
    tokenize.COMMENT: "comment",
    token.STRING: "string",
    token.NUMBER: "number-literal",
    **{
        getattr(token, name): "string"
        for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
        if hasattr(token, name)
    },
}


def highlighted(source: SourceFile) -> dict[int, list[Part]]:
    """The parts of each line; those of a text that cannot be read to its end up to there."""
    found: dict[int, list[Part]] = {}
    try:
        for line, part in _parts(source):
            found.setdefault(line, []).append(part)
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return found


def _parts(source: SourceFile) -> Iterator[tuple[int, Part]]:
    for one in tokenize.generate_tokens(io.StringIO(source.code).readline):
        kind = _kind(one)
        (first, start), (last, end) = one.start, one.end
        if not kind or not _is_written(one, source):
            continue
        for line in range(first, last + 1):
            begin = start if line == first else 0
            yield line, (begin, end if line == last else _FAR, kind)


def _is_written(one: tokenize.TokenInfo, source: SourceFile) -> bool:
    """What stands in the place of a magic is no part of the text."""
    (line, start), (last, end) = one.start, one.end
    return line != last or source.line_text(line)[start:end] == one.string


_FAR = 1_000_000
"""The end of a line, wherever it is."""


def _kind(one: tokenize.TokenInfo) -> str:
    if one.type == token.NAME:
        return "keyword" if keyword.iskeyword(one.string) else ""
    return _KINDS.get(one.type, "")
