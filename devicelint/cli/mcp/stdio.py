"""Standard input and output as the way to the client."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from devicelint.cli.mcp.server import AgentServer
from devicelint.server.shutdown import INTERRUPTED, leave


def serve() -> NoReturn:
    """Serve one client until it closes standard input."""
    signal.signal(signal.SIGINT, lambda *_: leave(INTERRUPTED, "interrupted"))
    if sys.stdin.isatty():
        sys.stderr.write("devicelint: waiting for a client on standard input; Ctrl+C ends it\n")
    AgentServer().run("stdio")
    leave(0)
