"""Markdown: the Python blocks of a page, where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from devicelint.finding import InputError, Location, Span
from devicelint.text.documents.document import Document, Unwritable
from devicelint.text.documents.magics import Reading, read_cell
from devicelint.text.noqa import skips_file
from devicelint.text.screen import names_tensors

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FENCE = re.compile(
    r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\r\n]*?)[ \t]*[\r\n]*$"
)
_PYTHON = re.compile(
    r"(?:python3?|py)(?![\w-])|\{(?:[^}]*\s)?\.?(?:python3?|py)(?=[\s,}])", re.IGNORECASE
)
_SKIP = re.compile(r"<!--\s*devicelint:\s*skip-file\s*-->", re.IGNORECASE)
_INDENTED = re.compile(r"(?:[ \t]*[\r\n])*[ \t]+[^\s]")
_NOT_FOR_US = re.compile(r"\s*(?:>>>|#@tab (?![^\r\n]*\b(?:pytorch|all)\b))")
"""A prompt, or the code of another framework in a page that has a tab for each."""
_NO_LINE_END = re.compile(r"[^\r\n]")
_HEAD = "if 1:"
_IMPORTS_TORCH = re.compile(r"^[ \t]*(?:import|from)[ \t]+torch\b", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of Python."""

    span: Span
    """Its lines, without the fences."""
    opening: Span
    """The line of its opening fence, without the end of that."""
    reading: Reading


@dataclass(frozen=True)
class Markdown(Document):
    """A page; what is not Python is blank in its programs."""

    page: str
    path: str
    blocks: tuple[Block, ...]
    problems: tuple[InputError, ...] = ()

    @property
    def text(self) -> str:
        """The page."""
        return self.page

    @property
    def notes(self) -> tuple[InputError, ...]:
        """The blocks that are no Python, with the reason."""
        return self.problems

    @property
    def opening(self) -> str:
        """Nothing: a comment in a block speaks of that block."""
        return ""

    @cached_property
    def code(self) -> str:
        """All blocks."""
        return _program(self.page, self.blocks)

    @cached_property
    def programs(self) -> tuple[str, ...]:
        """Blocks that go on from each other are one program."""
        return tuple(_program(self.page, blocks) for blocks in _groups(self.page, self.blocks))

    def location(self, line: int, column: int) -> Location:
        """The line of the page."""
        return Location(line, column)

    def label(self, line: int) -> str:
        """The number of the line."""
        return str(line)

    def with_text(self, text: str) -> Markdown:
        """The page with other code in its blocks."""
        changed = read_markdown(text, self.path)
        same_rest = _around(self.page, self.blocks) == _around(text, changed.blocks)
        kept, now = ([each.reading.kept for each in one.blocks] for one in (self, changed))
        if not same_rest or kept != now:
            raise Unwritable("more than the Python of the page would change")
        return changed

    def to_text(self) -> str:
        """The page."""
        return self.page


def read_markdown(page: str, path: str) -> Markdown:
    """The blocks of a page."""
    if not names_tensors(page) or _SKIP.search(page):
        return Markdown(page, path, ())
    blocks: list[Block] = []
    notes: list[InputError] = []
    for block in _blocks(page):
        code = page[block.span.start : block.span.end]
        if skips_file(code) or _NOT_FOR_US.match(code):
            continue
        if block.reading.error is None:
            blocks.append(block)
            continue
        line, column, message = block.reading.error
        before = len(_LINE.findall(page[: block.span.start]))
        notes.append(InputError(path, before + line, column, f"block is not checked: {message}"))
    return Markdown(page, path, tuple(blocks), tuple(notes))


def _blocks(page: str) -> Iterator[Block]:
    position, is_comment = 0, False
    opened: tuple[re.Match[str], Span] | None = None
    for line in _LINE.finditer(page):
        fence = _FENCE.match(line[0])
        if opened is None:
            is_comment = _is_in_comment(line[0], is_comment)
            if fence and not is_comment and not ("`" in fence["info"] and "`" in fence["fence"]):
                end = line.start() + len(line[0].rstrip("\r\n"))
                opened, position = (fence, Span(line.start(), end)), line.end()
        elif fence and _closes(fence, opened[0]):
            yield from _block(page, opened, Span(position, line.start()))
            opened = None
    if opened is not None:
        yield from _block(page, opened, Span(position, len(page)))


def _is_in_comment(line: str, was: bool) -> bool:
    if was:
        return "-->" not in line
    return line.lstrip().startswith("<!--") and "-->" not in line


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    return not fence["info"] and fence["fence"].startswith(opened["fence"])


def _block(page: str, opened: tuple[re.Match[str], Span], span: Span) -> Iterator[Block]:
    fence, opening = opened
    if _PYTHON.match(fence["info"]):
        code = page[span.start : span.end]
        is_indented = _INDENTED.match(code) is not None
        yield Block(span, opening, _read_indented(code) if is_indented else read_cell(code))


def _read_indented(code: str) -> Reading:
    """A block in a list, or from the middle of a class: the body of what its fence becomes."""
    reading = read_cell(f"{_HEAD}\n{code}")
    error = reading.error and (max(reading.error[0] - 1, 1), *reading.error[1:])
    return replace(reading, code=reading.code[len(_HEAD) + 1 :], error=error, head=_HEAD)


def _groups(page: str, blocks: tuple[Block, ...]) -> Iterator[tuple[Block, ...]]:
    """A block goes on from those before it, unless it imports torch for itself."""
    group: list[Block] = []
    for block in blocks:
        if group and _IMPORTS_TORCH.search(page, block.span.start, block.span.end):
            yield tuple(group)
            group = []
        group.append(block)
    if group:
        yield tuple(group)


def _program(page: str, blocks: tuple[Block, ...]) -> str:
    """The page with everything blank but the code of these blocks."""
    pieces, position = [], 0
    for block in blocks:
        before = _NO_LINE_END.sub(" ", page[position : block.opening.start])
        fence = block.reading.head.ljust(block.opening.end - block.opening.start)
        line_end = page[block.opening.end : block.span.start]
        pieces += [before, fence, line_end, block.reading.code]
        position = block.span.end
    return "".join((*pieces, _NO_LINE_END.sub(" ", page[position:])))


def _around(page: str, blocks: tuple[Block, ...]) -> list[str]:
    """What of a page is not in its blocks."""
    starts = [0, *(block.span.end for block in blocks)]
    ends = [*(block.span.start for block in blocks), len(page)]
    return [page[start:end] for start, end in zip(starts, ends, strict=True)]
