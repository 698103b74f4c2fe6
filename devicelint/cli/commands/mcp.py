"""The command `mcp`: tools for coding agents, on standard input and output."""

from __future__ import annotations

from collections.abc import Sequence

from devicelint.cli.options.parser import COMMANDS, Parser
from devicelint.cli.options.usage import UsageError

_NEEDED = ("anyio", "mcp", "mcp_types", "pydantic")


def mcp_parser() -> Parser:
    """Return the parser of `devicelint mcp`."""
    return Parser(
        "devicelint mcp",
        COMMANDS["mcp"] + ": it is a server of the Model Context Protocol on standard input and "
        "output. docs/agents.md says how to register it.",
        "example:\n  devicelint mcp\n",
    )


def run(_command: str, words: Sequence[str]) -> int:
    """Serve one client until it closes standard input."""
    mcp_parser().parse(words)
    try:
        from devicelint.cli.mcp.stdio import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        message = 'the MCP server needs the package mcp: pip install "devicelint[mcp]"'
        raise UsageError(message) from None
    return serve()
