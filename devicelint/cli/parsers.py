"""The parser of each command: what help, completion and the manual page are made from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devicelint.cli.arguments import Parser

_PARSERS = {
    "adopt": "adopt_arguments",
    "check": "arguments",
    "clean": "clean_arguments",
    "completion": "arguments",
    "config": "configuration",
    "explain": "arguments",
    "map": "map_arguments",
    "rules": "arguments",
    "server": "server",
    "trace": "arguments",
    "why": "arguments",
}
"""The module in which each command's `COMMAND_parser` is."""


def parser_of(command: str) -> Parser:
    """Return the parser of one of the `COMMANDS`."""
    module = import_module(f"devicelint.cli.{_PARSERS[command]}")
    parser: Parser = getattr(module, f"{command}_parser")()
    return parser
