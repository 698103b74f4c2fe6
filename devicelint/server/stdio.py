"""Standard input and output as the way to the editor, and nothing else on them."""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import NoReturn

from devicelint.finding import InputError
from devicelint.server.service import listening
from devicelint.server.shutdown import INTERRUPTED, leave


def serve(log: str | None = None) -> NoReturn:
    """Serve one editor until it leaves; the exit status says whether it took its leave.

    Raises InputError where the log cannot be written.
    """
    _write_log(log)
    signal.signal(signal.SIGINT, lambda *_: leave(INTERRUPTED, "interrupted"))
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write("devicelint: waiting for an editor on standard input; Ctrl+C ends it\n")
    server = listening()
    with os.fdopen(os.dup(0), "rb") as messages, os.fdopen(os.dup(1), "wb") as answers:
        # Whatever else is printed, by a plug-in or a library, must not come between messages.
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        server.start_io(messages, answers)
    leave(int(not server.has_shut_down))


def _write_log(path: str | None) -> None:
    handler: logging.Handler = logging.NullHandler()
    if path is not None:
        try:
            handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            message = f"cannot be written: {error.strerror or error}"
            raise InputError(path, 1, 0, message) from None
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(handlers=[handler], format=form, level=logging.INFO if path else None)
