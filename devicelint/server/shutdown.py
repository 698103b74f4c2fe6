"""How a server ends: at once, whatever its threads are doing."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from typing import NoReturn

INTERRUPTED = 130
GONE = 1

_BETWEEN_LOOKS = 3.0
"""In seconds."""


def leave(status: int, reason: str = "") -> NoReturn:
    """End the process, and wait neither for an analysis nor for a message that never comes."""
    if reason:
        sys.stderr.write(f"devicelint: {reason}\n")
        sys.stderr.flush()
    logging.shutdown()
    os._exit(status)


async def leave_with(process: int) -> None:
    """Leave once the editor is gone, even where something else holds the way to it open."""
    while is_alive(process):
        await asyncio.sleep(_BETWEEN_LOOKS)
    leave(GONE)


def is_alive(process: int) -> bool:
    """Whether there is such a process; on Windows, where asking would end it, it is taken to be."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # It is somebody else's, or no number of a process.
        return True
    return True
