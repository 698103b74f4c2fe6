"""The command line: `devicelint`, or `python -m devicelint`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from devicelint import __version__
from devicelint.cli import terminal
from devicelint.cli.options.usage import UsageError
from devicelint.finding import InputError
from devicelint.output.visible import printable

BAD_USAGE = 2
INTERRUPTED = 130
NOBODY_READS = 141

Command = Callable[[str, Sequence[str]], int]
"""A command: its name and its words in, the exit status out."""

_HOMES = {
    "adopt": "commands.adopt",
    "check": "commands.check",
    "clean": "commands.clean",
    "completion": "completion",
    "config": "commands.config",
    "explain": "commands.pages",
    "map": "commands.map",
    "mcp": "commands.mcp",
    "rules": "commands.pages",
    "server": "commands.server",
    "trace": "commands.pages",
    "why": "commands.pages",
}
"""The module that runs each command, imported where it is asked for."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; nothing is raised."""
    terminal.prepare()
    try:
        status = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    except KeyboardInterrupt:
        terminal.say("devicelint: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        terminal.forget_output()
        return NOBODY_READS
    except OSError as error:
        if error.filename is None:
            terminal.forget_output()
        terminal.say(f"devicelint: {error.filename or 'standard output'}: {error.strerror}")
        return BAD_USAGE
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported in one line
        terminal.say(in_one_line(error))
        return BAD_USAGE
    return status


def _run(words: list[str]) -> int:
    if words == ["--version"]:  # Asked to see what is there: no parser is made for it.
        sys.stdout.write(f"devicelint {__version__}\n")
        return 0
    command, *rest = words or ["check"]
    if command in ("-h", "--help"):
        sys.stdout.write(_overview())
        return 0
    home = _HOMES.get(command)
    if home is None:
        command, rest, home = "check", words, _HOMES["check"]
    run: Command = import_module(f"{__name__}.{home}").run
    return run(command, rest)


def _overview() -> str:
    from devicelint.cli.options import parser

    return parser.overview()


def in_one_line(error: Exception) -> str:
    """Return what to say of an error that ends a command."""
    if isinstance(error, InputError):
        return printable(str(error))
    if isinstance(error, UsageError):
        return f"devicelint: {printable(str(error))}"
    from devicelint.output import internal_error

    return (
        f"devicelint: {internal_error.CODE} {internal_error.NAME}: {internal_error.describe(error)}"
    )
