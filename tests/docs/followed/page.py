"""A page that is followed to the letter: what it says to save, to change and to type.

The sentence before a block says what the reader does with it, and ends in one of `ORDERS`. A
`console` block is typed, and shows what is printed; a `text` block quotes from that. There is no
other kind of block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ELIDED = "…"
"""A line of an output that stands for any number of lines."""

Order = Literal["save", "append", "change"]
ORDERS: dict[Order, re.Pattern[str]] = {
    "save": re.compile(r"\bsave this as `([^`]+)`:$", re.IGNORECASE),
    "append": re.compile(r"\badd this to the end of `([^`]+)`:$", re.IGNORECASE),
    "change": re.compile(r"\bchange `([^`]+)`:$", re.IGNORECASE),
}

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


class PageError(Exception):
    """The page has a block that a reader would not know what to do with."""


@dataclass(frozen=True)
class File:
    """A block that is put into a file."""

    line: int
    order: Order
    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command that is typed, and what the page shows below it."""

    line: int
    typed: str
    shown: str


@dataclass(frozen=True)
class Quotation:
    """Words that some command of the page prints."""

    line: int
    text: str


Step = File | Command | Quotation


def steps(page: str) -> Iterator[Step]:
    """What a reader of the page does, from top to bottom."""
    for block in _FENCE.finditer(page):
        line = page.count("\n", 0, block.start("text")) + 1
        match block["language"]:
            case "console":
                yield from _commands(block["text"], line)
            case "text":
                yield Quotation(line, block["text"])
            case _:
                paragraph = page[: block.start()].rstrip().rpartition("\n\n")[2]
                yield _file(" ".join(paragraph.split()), block["text"], line)


def rewritten(page: str, said: dict[Command, str]) -> str:
    """Return the page with what these commands print."""
    lines = page.splitlines(keepends=True)
    for command in sorted(said, key=lambda command: command.line, reverse=True):
        after = command.line + command.shown.count("\n")
        lines[command.line : after] = [_elided(command.shown, said[command])]
    return "".join(lines)


def shows(shown: str, said: str) -> bool:
    """Whether the output is the one that is shown, but for what is elided."""
    parts = [re.escape(part) for part in re.split(rf"^{ELIDED}\n", shown, flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*".join(parts), said) is not None


def apply(difference: str, path: Path) -> None:
    """Change a file as a reader does who is shown lines with `-` and `+`."""
    text = path.read_text(encoding="utf-8")
    for hunk in re.split(r"^@@\n", difference, flags=re.MULTILINE):
        lines = [line if line.strip() else f" {line}" for line in hunk.splitlines(keepends=True)]
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        if text.count(before) != 1:
            raise PageError(f"{path.name} does not have these lines once:\n{before}")
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


def _elided(shown: str, said: str) -> str:
    """Return the output, with as many lines on either side of a gap as there were."""
    before, gap, after = shown.partition(f"{ELIDED}\n")
    if not gap or ELIDED in after:
        return said
    first, lines = before.count("\n"), said.splitlines(keepends=True)
    last = len(lines) - after.count("\n")
    return "".join([*lines[:first], gap, *lines[last:]]) if first < last else said


def _file(sentence: str, text: str, line: int) -> File:
    for order, pattern in ORDERS.items():
        if said := pattern.search(sentence):
            return File(line, order, said[1], text)
    raise PageError(f"line {line}: nothing says what to do with this block: {sentence!r}")


def _commands(block: str, line: int) -> Iterator[Command]:
    for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE):
        if part:
            typed, _, shown = part.partition("\n")
            if not typed.startswith("$ "):
                raise PageError(f"line {line}: nothing is typed in this block: {typed!r}")
            yield Command(line, typed.removeprefix("$ "), shown)
        line += part.count("\n")
