"""Expectations: the comments of an example that say what will be found, and where."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from tests.mdtest.page import Problem

_FINDING = re.compile(
    r"""\#\ (?P<todo>todo\ )?(?P<kind>error|warning|note|raises)
        (?P<nothing>:\ nothing(?=\s*(?:\#|$)))?
        (?::(?=\s*[\d\["])
            (?:\s*(?P<column>\d+))?
            (?:\s*\[(?P<rule>[A-Za-z0-9-]+)\])?
            (?:\s*"(?P<message>(?:[^"\\]|\\.)+)")?
        )?
        \s*(?=\#|$)""",
    re.VERBOSE,
)
_REVEAL = re.compile(r"# (?P<kind>revealed): (?P<message>[^#]*[^#\s])\s*(?=#|$)")
_LOOKS_LIKE_ONE = re.compile(
    r"#+\s*(?:todo:?\s*)?(?:(?:errors?|warnings?|notes?|raises?|revealed?)\s*(?::|\[|#|$))",
    re.IGNORECASE,
)
_LAYOUT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


@dataclass(frozen=True)
class Expectation:
    """What one comment announces; `None` stands for what it leaves open."""

    line: int
    """The line of the bare code that it is about."""
    origin: int
    """The line of the block on which the comment stands."""
    kind: str
    """`error`, `warning`, `note`, `revealed`, `raises`, or `passes`: torch raises nothing there."""
    column: int | None = None
    rule: str | None = None
    message: str | None = None
    todo: bool = False

    def __str__(self) -> str:
        if self.kind == "revealed":
            return f"# revealed: {self.message}"
        if self.kind == "passes":
            return "# raises: nothing"
        details = [
            str(self.column) if self.column else "",
            f"[{self.rule}]" if self.rule else "",
            f'"{self.message}"' if self.message else "",
        ]
        shown = " ".join(detail for detail in details if detail)
        return f"# {'todo ' if self.todo else ''}{self.kind}{': ' if shown else ''}{shown}"

    @property
    def is_of_torch(self) -> bool:
        """Whether it says what torch does when the block is executed, and nothing of a finding."""
        return self.kind in ("raises", "passes")

    @property
    def exactness(self) -> int:
        """How much it pins down; the exact choose their finding before the vague."""
        return sum(detail is not None for detail in (self.column, self.rule, self.message))


@dataclass(frozen=True)
class AnnotatedCode:
    """An example taken apart: the code as a user would write it, and what it announces."""

    code: str
    expectations: tuple[Expectation, ...] = ()
    origins: tuple[int, ...] = ()
    """For each line of `code`, its line in the block."""
    problems: tuple[Problem, ...] = ()
    """What is refused, by lines of the block."""

    def origin(self, line: int) -> int:
        """The line of the block from which the `line`-th line of the code comes."""
        return self.origins[line - 1] if 0 < line <= len(self.origins) else max(line, 1)


@dataclass(frozen=True)
class _Comment:
    line: int
    column: int
    bare: str
    """What is left of it without its expectations."""
    found: tuple[re.Match[str], ...]
    malformed: bool


def annotated(text: str) -> AnnotatedCode:
    """Take the expectations out of an example; columns stay, lines that held nothing else go."""
    try:
        ast.parse(text)
        tokens = tuple(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        line = getattr(error, "lineno", None) or 1
        return AnnotatedCode(text, problems=(Problem(line, f"does not parse: {error}"),))
    return _take_apart(text, tokens)


def _take_apart(text: str, tokens: tuple[tokenize.TokenInfo, ...]) -> AnnotatedCode:
    lines: dict[int, str] = dict(enumerate(text.split("\n"), start=1))
    comments = [_read(token) for token in tokens if token.type == tokenize.COMMENT]
    for comment in comments:
        if comment.found:
            kept = (lines[comment.line][: comment.column] + comment.bare).rstrip()
            if kept:
                lines[comment.line] = kept
            else:
                del lines[comment.line]
    positions = {origin: line for line, origin in enumerate(lines, start=1)}
    targets = _targets(tokens, comments)
    expectations: list[Expectation] = []
    problems = [
        Problem(comment.line, "looks like an expectation and is none; tests/mdtest/README.md")
        for comment in comments
        if comment.malformed
    ]
    for comment in comments:
        target = targets.get(comment.line)
        if comment.found and target is None:
            problems.append(Problem(comment.line, "no line of code follows this expectation"))
        elif target is not None:
            expectations += _expectations(comment, positions[target])
    code = "\n".join(lines.values())
    return AnnotatedCode(code, tuple(expectations), tuple(lines), tuple(problems))


def _read(token: tokenize.TokenInfo) -> _Comment:
    line, column = token.start
    found, bare, malformed = [], "", False
    position = 0
    while position < len(token.string):
        match = _FINDING.match(token.string, position) or _REVEAL.match(token.string, position)
        if match:
            found.append(match)
            position = match.end()
            continue
        malformed = malformed or bool(_LOOKS_LIKE_ONE.match(token.string, position))
        bare += token.string[position]
        position += 1
    return _Comment(line, column, bare, tuple(found), malformed)


def _targets(
    tokens: tuple[tokenize.TokenInfo, ...], comments: list[_Comment]
) -> dict[int, int | None]:
    """For each line with a comment, the line of code that the comment is about."""
    code_lines = {
        line
        for token in tokens
        if token.type not in _LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    ordered = sorted(code_lines)
    return {
        comment.line: next((line for line in ordered if line >= comment.line), None)
        for comment in comments
    }


def _expectations(comment: _Comment, line: int) -> Iterator[Expectation]:
    for match in comment.found:
        details = match.groupdict()
        column, message = details.get("column"), details.get("message")
        yield Expectation(
            line=line,
            origin=comment.line,
            kind="passes" if details.get("nothing") else details["kind"],
            column=int(column) if column else None,
            rule=details.get("rule"),
            message=message and message.replace('\\"', '"'),
            todo=bool(details.get("todo")),
        )
