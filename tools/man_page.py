"""man/devicelint.1, the manual page, from the parsers of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from devicelint.cli.options.vocabulary import Command, Option, OptionGroup, OptionWord, commands

PAGE = Path("man/devicelint.1")

_HEAD = r"""
.\" Written by tools/generate.py from the parsers of the command line: `make generate`.
.TH DEVICELINT 1 "" "devicelint" "User commands"
.SH NAME
devicelint \- finds, explains and fixes device mistakes in PyTorch training scripts
.SH SYNOPSIS
"""

_DESCRIPTION = r"""
.SH DESCRIPTION
.B devicelint
reads training scripts, notebooks and Markdown, works out on which device every tensor and module
lives, reports what cannot work, says why, and rewrites it.
It does not run them, and it does not need PyTorch.
A word that is no command is a file or folder for
.BR check .
"""

_TAIL = r"""
.SH EXIT STATUS
.TP
.B 0
Nothing was found.
.TP
.B 1
Something was found, or is left to do.
.TP
.B 2
The command or a file could not be understood.
.SH ENVIRONMENT
.TP
.B NO_COLOR
No colour, on a terminal either.
.TP
.B FORCE_COLOR
Colour, even where the output is no terminal.
.SH FILES
.TP
.IR pyproject.toml ", " devicelint.toml ", " .devicelint.toml
Settings, in the table
.B [tool.devicelint]
of the first, or all of the others; the nearest above each file holds.
.SH SEE ALSO
.BR flake8 (1),
.BR ruff (1)
"""


def text() -> str:
    """Return the page."""
    # What is meant where no command is named comes first.
    every = sorted(commands(), key=lambda command: command.name != "check")
    lines = [_HEAD.strip(), *_synopsis(every), _DESCRIPTION.strip(), ".SH COMMANDS"]
    for command in every:
        lines += _command(command)
    return "\n".join([*lines, _TAIL.strip()]) + "\n"


def _synopsis(every: Iterable[Command]) -> Iterator[str]:
    for number, command in enumerate(every):
        if number:
            yield ".br"
        name = f"[{command.name}]" if command.name == "check" else command.name
        operands = " ".join(map(_operand, command.operands))
        yield f".B devicelint {name}"
        yield f"[\\fIoptions\\fR] {operands}".rstrip()


def _operand(word: OptionWord) -> str:
    name = f"\\fI{_escaped(word.placeholder)}\\fR" + (" ..." if word.repeated else "")
    return name if word.needed else f"[{name}]"


def _command(command: Command) -> Iterator[str]:
    yield f".SS devicelint {_escaped(command.name)}"
    yield f"{_escaped(command.summary)}."
    for word in command.operands:
        yield from (".TP", _operand(word), _escaped_line(word.help))
    for group in command.groups:
        yield from _group(group)
    for paragraph in filter(None, command.details.split("\n\n")):
        yield from _paragraph(paragraph.splitlines())


def _paragraph(lines: Sequence[str]) -> Iterator[str]:
    """Prose is filled; what is laid out stays as it is."""
    laid_out = any(line.startswith(" ") for line in lines)
    text = map(_escaped_line, lines)
    yield from (".PP", ".nf", *text, ".fi") if laid_out else (".PP", *text)


def _group(group: OptionGroup) -> Iterator[str]:
    if group.title != "options":
        yield from (".PP", f"{_escaped(group.title.capitalize())}:")
    for option in group.options:
        yield from (".TP", _option(option), _escaped_line(option.help))


def _option(option: Option) -> str:
    names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in option.names)
    return f"{names} \\fI{_escaped(option.takes.placeholder)}\\fR" if option.takes else names


def _escaped_line(line: str) -> str:
    """A line that begins with a dot or a quote would be a request."""
    escaped = _escaped(line)
    return f"\\&{escaped}" if re.match("[.']", escaped) else escaped


def _escaped(part: str) -> str:
    return part.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("`", "\\(ga")
