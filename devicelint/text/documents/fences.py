"""The fenced blocks of a Markdown page, as CommonMark reads them, and where they stand."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devicelint.finding import Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MKDOCS = re.compile(
    r"""^(?P<before>[ \t>]*) (?P<marker>(?:!!!|\?\?\?\+?)[ ]+(?=["\w])|===[!+]?[ ]+(?=["']))""",
    re.MULTILINE | re.VERBOSE,
)
"""The first line of an admonition or a tab, as MkDocs has them; the text of it is indented by 4."""


@dataclass(frozen=True)
class Fence:
    """A fenced block."""

    info: str
    """What follows the opening fence."""
    opening: Span
    """The line of the opening fence, without its end."""
    span: Span
    """The lines between the fences, with their ends."""
    content: str
    """What these lines say, without what block quotes and lists put before them."""
    code: str
    """As long as the lines: what block quotes put before them is blank."""
    prefix: str | None
    """What a block quote puts before each line; None where not before all of them the same."""


def fences(page: str) -> Iterator[Fence]:
    """The fenced blocks in block quotes, lists, and MkDocs's admonitions and tabs, too."""
    lines = list(_LINE.finditer(page))
    # An item of a list is the construct of CommonMark whose text is indented by as much.
    tokens = _parser().parse(_MKDOCS.sub(_as_item, page))
    for token in tokens:
        if token.type != "fence" or token.map is None:
            continue
        first = token.map[0]
        contents = _split(token.content)
        written = [line[0] for line in lines[first + 1 : first + 1 + len(contents)]]
        opening = lines[first]
        start = opening.end()
        pairs = list(zip(written, contents, strict=True))
        yield Fence(
            token.info.strip(),
            Span(opening.start(), opening.start() + len(_without_end(opening[0]))),
            Span(start, start + sum(map(len, written))),
            token.content,
            "".join(_masked(line, content) for line, content in pairs),
            _prefix(pairs),
        )


@functools.cache
def _parser() -> MarkdownIt:
    """A parser of blocks: what is in a paragraph does not matter here."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _as_item(match: re.Match[str]) -> str:
    return match["before"] + "*   ".ljust(len(match["marker"]), "x")


def _split(content: str) -> list[str]:
    """The lines; `str.splitlines` would know more ends of lines than Markdown."""
    lines = content.split("\n")
    return lines if lines[-1] else lines[:-1]


def _without_end(line: str) -> str:
    return line.rstrip("\r\n")


def _masked(line: str, content: str) -> str:
    """A line with the marks of block quotes blank."""
    before = len(_without_end(line)) - len(content.lstrip(" \t"))
    return line[:before].replace(">", " ") + line[before:]


def _prefix(pairs: list[tuple[str, str]]) -> str | None:
    """What is before all lines that are not blank; nothing where no block quote is around them."""
    found: set[str | None] = set()
    is_quoted = False
    for line, content in pairs:
        written = _without_end(line)
        is_quoted = is_quoted or ">" in written[: len(written) - len(content.lstrip(" \t"))]
        if content.strip():
            # A tab of which a part is before the content, and a part in it, is in neither.
            is_whole = written.endswith(content)
            found.add(written[: len(written) - len(content)] if is_whole else None)
    if not is_quoted or not found:
        return ""
    return found.pop() if len(found) == 1 else None
