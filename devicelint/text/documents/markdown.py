"""Markdown: the Python blocks of a page, where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from devicelint.finding import Edit, InputError, Location, Span
from devicelint.text.documents.document import Document, Unwritable
from devicelint.text.documents.fences import Fence, fences
from devicelint.text.documents.magics import Reading, read_cell
from devicelint.text.documents.quoted import fitted
from devicelint.text.noqa import skips_file
from devicelint.text.screen import names_tensors

_LINE_END = re.compile(r"\r\n|\r|\n")
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
    prefix: str | None = ""
    """What a block quote puts before each line; None where not before all of them the same."""


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

    def fitted(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """The edits, with the marks of a block quote before each line that they put in."""
        return tuple(map(self._fitted, edits))

    def _fitted(self, edit: Edit) -> Edit:
        for block in self.blocks:
            span = block.span
            if span.start <= edit.span.start and edit.span.end <= span.end:
                return edit if block.prefix == "" else fitted(self.page, edit, block.prefix)
        return edit

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
    for fence in fences(page):
        is_passed_over = skips_file(fence.content) or _NOT_FOR_US.match(fence.content)
        if is_passed_over or not _PYTHON.match(fence.info):
            continue
        block = Block(fence.span, fence.opening, _read(fence), fence.prefix)
        if block.reading.error is None:
            blocks.append(block)
            continue
        line, column, message = block.reading.error
        before = len(_LINE_END.findall(page, 0, block.span.start))
        notes.append(InputError(path, before + line, column, f"block is not checked: {message}"))
    return Markdown(page, path, tuple(blocks), tuple(notes))


def _read(fence: Fence) -> Reading:
    is_indented = _INDENTED.match(fence.code) is not None
    reading = _read_indented(fence.code) if is_indented else read_cell(fence.code)
    if reading.error is None or read_cell(fence.content).error is not None:
        return reading
    # What is Python without the marks and blanks before its lines is not with blanks for them.
    return replace(reading, error=(1, 0, "its lines do not all begin in the same column"))


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
