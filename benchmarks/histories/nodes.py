"""The tokens of a file as statements, and the tokens of a statement as nested brackets."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

OPENING = {"(": ")", "[": "]", "{": "}"}

_PASSED_OVER = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER})
_HEADERS = frozenset({"if", "elif", "else", "for", "while", "with", "try", "except", "finally"})


@dataclass(frozen=True)
class Group:
    """What stands in a pair of brackets, between its commas."""

    opening: str
    parts: tuple[Nodes, ...]


Node: TypeAlias = "str | Group"
Nodes: TypeAlias = "tuple[Node, ...]"


@dataclass(frozen=True)
class Statement:
    """The tokens of a logical line, and the statements that are indented below it."""

    tokens: tuple[str, ...]
    body: tuple[Statement, ...] = ()


def statements_of(text: str) -> tuple[Statement, ...]:
    """The statements of a file; comments and empty lines are none.

    Raises:
        SyntaxError: the file is not made of Python's tokens.
    """
    try:
        tokens = [
            token
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type not in _PASSED_OVER
        ]
    except tokenize.TokenError as error:
        raise SyntaxError(str(error)) from None
    return _block(iter(tokens))


def _block(tokens: Iterator[tokenize.TokenInfo]) -> tuple[Statement, ...]:
    """The statements up to where the indentation ends."""
    found: list[Statement] = []
    line: list[str] = []
    for token in tokens:
        if token.type == tokenize.DEDENT:
            break
        if token.type == tokenize.INDENT:
            body = _block(tokens)
            header = found.pop() if found else Statement(())
            found.append(Statement(header.tokens, (*header.body, *body)))
        elif token.type == tokenize.NEWLINE:
            found.extend(_apart(line))
            line = []
        else:
            line.append(token.string)
    return tuple(found)


def _apart(line: Sequence[str]) -> Iterator[Statement]:
    """Yield what one line says: `if x: y` is a header with a body."""
    if not line:
        return
    colon = _colon(line) if line[0] in _HEADERS else None
    if colon is None or colon + 1 == len(line):
        yield Statement(tuple(line))
        return
    yield Statement(tuple(line[: colon + 1]), tuple(_apart(line[colon + 1 :])))


def _colon(line: Sequence[str]) -> int | None:
    depth = 0
    for place, token in enumerate(line):
        depth += (token in OPENING) - (token in OPENING.values())
        if token == ":" and not depth:
            return place
    return None


def nested(tokens: Sequence[str]) -> Nodes:
    """Tokens with each pair of brackets as one group."""
    found, _ = _until(tokens, 0, "")
    return found[0] if len(found) == 1 else (Group("", found),)


def _until(tokens: Sequence[str], start: int, closing: str) -> tuple[tuple[Nodes, ...], int]:
    """The parts between here and the closing bracket, and where that stands."""
    parts: list[Nodes] = []
    part: list[Node] = []
    place = start
    while place < len(tokens) and tokens[place] != closing:
        token = tokens[place]
        if token in OPENING:
            inner, place = _until(tokens, place + 1, OPENING[token])
            part.append(Group(token, inner))
        elif token == "," and closing:
            parts.append(tuple(part))
            part = []
        else:
            part.append(token)
        place += 1
    if part or not parts:
        parts.append(tuple(part))
    return tuple(parts), place


def flat(nodes: Nodes) -> tuple[str, ...]:
    """The tokens of nodes, in a row."""
    return tuple(_flat(nodes))


def _flat(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield node
            continue
        yield node.opening
        for number, part in enumerate(node.parts):
            if number:
                yield ","
            yield from _flat(part)
        yield OPENING.get(node.opening, "")


def is_name(node: Node) -> bool:
    """Whether it is a name, and no keyword."""
    return isinstance(node, str) and node.isidentifier() and not keyword.iskeyword(node)
