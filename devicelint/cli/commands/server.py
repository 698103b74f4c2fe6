"""The command `server`: a language server for editors, on standard input and output."""

from __future__ import annotations

from collections.abc import Sequence

from devicelint.cli.options.parser import COMMANDS, Parser
from devicelint.cli.options.usage import UsageError
from devicelint.server.garbage import collect_between_checks


def server_parser() -> Parser:
    """Return the parser of `devicelint server`."""
    parser = Parser(
        "devicelint server",
        COMMANDS["server"] + ": it speaks the Language Server Protocol on standard input and "
        "output. docs/editors.md says how to set up yours.",
        "example:\n  devicelint server --log server.log\n",
    )
    parser.add_argument(
        "--stdio", action="store_true", help="the default, which many editors ask for by name"
    )
    parser.add_argument("--log", metavar="FILE", help="write every message to FILE")
    return parser


def run(_command: str, words: Sequence[str]) -> int:
    """Serve one editor until it says that it leaves."""
    options = server_parser().parse(words)
    collect_between_checks()
    try:
        from devicelint.server.stdio import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        message = 'the language server needs pygls: pip install "devicelint[server]"'
        raise UsageError(message) from None
    serve(options.log)
