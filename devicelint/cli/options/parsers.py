"""The parser of each command: what help, completion and the manual page are made from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devicelint.cli.options.parser import Parser

_PARSERS = {
    "adopt": "options.adopt",
    "check": "options.parser",
    "clean": "options.clean",
    "completion": "options.parser",
    "config": "commands.config",
    "explain": "options.parser",
    "map": "options.map",
    "mcp": "commands.mcp",
    "rules": "options.parser",
    "server": "commands.server",
    "trace": "options.parser",
    "why": "options.parser",
}
"""The module in which each command's `COMMAND_parser` is."""


def parser_of(command: str) -> Parser:
    """Return the parser of one of the `COMMANDS`."""
    module = import_module(f"devicelint.cli.{_PARSERS[command]}")
    parser: Parser = getattr(module, f"{command}_parser")()
    return parser
