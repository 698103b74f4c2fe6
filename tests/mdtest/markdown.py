"""Markdown as the harness sees it: headings, fenced blocks, and lines of prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<ticks>`{3,})\s*(?P<info>[^`]*)$")
_MISPLACED_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"^(?P<marks>#{1,6})\s+(?P<title>.*?)\s*#*$")


@dataclass(frozen=True)
class Heading:
    """`## title` on a line of the page."""

    line: int
    level: int
    title: str


@dataclass(frozen=True)
class Fence:
    """A fenced block; `content` is what stands between the fences, line ends included."""

    line: int
    """The page's line of the opening fence."""
    info: str
    content: str

    @property
    def language(self) -> str:
        """The first word after the fence."""
        return self.info.partition(" ")[0]

    @property
    def tags(self) -> str:
        """What follows the language."""
        return self.info.partition(" ")[2].strip()

    def page_line(self, line: int) -> int:
        """The page's line of the `line`-th line (from 1) of the content."""
        return self.line + line


@dataclass(frozen=True)
class Prose:
    """One line of text that is not blank."""

    line: int
    text: str


@dataclass(frozen=True)
class BrokenFence:
    """A fence that Markdown or the harness would read as something else."""

    line: int
    reason: str


Element = Heading | Fence | Prose | BrokenFence


def elements(text: str) -> Iterator[Element]:
    """What the page consists of, in order."""
    lines = enumerate(text.splitlines(), start=1)
    for number, line in lines:
        if fence := _FENCE.match(line):
            yield _fence(number, fence, lines)
        elif _MISPLACED_FENCE.match(line):
            yield BrokenFence(number, "a fence is three or more backticks at the start of a line")
        elif heading := _HEADING.match(line):
            yield Heading(number, len(heading["marks"]), heading["title"])
        elif line.strip():
            yield Prose(number, line.strip())


def _fence(
    opening: int, fence: re.Match[str], lines: Iterator[tuple[int, str]]
) -> Fence | BrokenFence:
    content: list[str] = []
    for _, line in lines:
        if line.startswith(fence["ticks"]) and not line.strip("` "):
            return Fence(opening, fence["info"].strip(), "".join(f"{line}\n" for line in content))
        content.append(line)
    return BrokenFence(opening, "the fence is never closed")
