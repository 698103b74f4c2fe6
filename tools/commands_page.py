"""The reference of the command line, in Markdown, from the parsers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from devicelint.cli.options.vocabulary import Command, Option, OptionWord, commands


def text() -> str:
    """Return the page."""
    return "\n".join(["# Commands", "", *(line for each in commands() for line in _command(each))])


def _command(command: Command) -> Iterator[str]:
    yield f"## `devicelint {command.name}`"
    yield ""
    yield f"{command.summary}."
    yield ""
    yield from _table(
        "What it is given", [(f"`{_operand(word)}`", word.help) for word in command.operands]
    )
    for group in command.groups:
        title = "Options" if group.title == "options" else group.title.capitalize()
        yield from _table(title, [(_names(option), option.help) for option in group.options])
    if command.details:
        yield from ("```text", command.details, "```", "")


def _operand(word: OptionWord) -> str:
    plural = f"{word.placeholder} …" if word.repeated else word.placeholder
    return plural if word.needed else f"[{plural}]"


def _names(option: Option) -> str:
    takes = f" {option.takes.placeholder}" if option.takes else ""
    return ", ".join(f"`{name}{takes}`" for name in option.names)


def _table(title: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    if rows:
        yield from (f"| {title} | |", "| --- | --- |")
        yield from (f"| {_cell(name)} | {_cell(meaning)} |" for name, meaning in rows)
        yield ""


def _cell(text: str) -> str:
    """Keep bars and angle brackets from meaning anything; between backticks they do not."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else part.replace("|", "&#124;").replace("<", "&lt;")
        for part in parts
    )
