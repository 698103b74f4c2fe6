"""What can be said to `devicelint clean`."""

from __future__ import annotations

from devicelint.cli.options.parser import COMMANDS, Parser


def clean_parser() -> Parser:
    """Return the parser of `devicelint clean`."""
    parser = Parser(
        "devicelint clean",
        COMMANDS["clean"] + ": the caches in these folders and their subfolders, and the one that "
        "their configuration names.",
        "examples:\n  devicelint clean\n  devicelint clean src notebooks\n",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="folders (the current one)")
    parser.add_argument("--cache-dir", metavar="DIR", help="the folder of the cache")
    return parser
