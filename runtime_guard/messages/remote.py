"""Errors that are only text: of replicas' threads, of worker processes, of spawned ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime_guard.lines import is_plumbing, is_users, short_path
from runtime_guard.messages.frames import Step, whereabouts
from runtime_guard.messages.message import HEAD, headline, place, row
from runtime_guard.mismatch import Line

if TYPE_CHECKING:
    from runtime_guard.messages.text import ErrorText

_CAUGHT = re.compile(r"Caught \w+ in (?P<where>.*)\.\nOriginal Traceback", re.MULTILINE)
_ENDED = re.compile(r"-- Process (?P<number>\d+) terminated with the following error:")
_FRAME = re.compile(
    r'^ *File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)\n(?P<text>.*)', re.MULTILINE
)

_REPLICAS = (
    "each replica runs on its own device: what forward makes or keeps must follow its inputs, as "
    "`device=x.device` and buffers do"
)


def is_remote(error: BaseException) -> bool:
    """Whether an exception was rebuilt from the text of one in another thread or process."""
    return _origin(str(error)) != ""


def of_another_process(message: str, steps: list[Step], text: ErrorText) -> str:
    """Explain the text of such an exception, and say which line of this process asked for it."""
    lines = list(headline(f"{HEAD}it failed in {_origin(message)}"))
    failed = _failed_at(message)
    if failed is not None:
        lines += place("failed at", failed)
    where = whereabouts(steps)
    asked = where.entry or where.failing
    if asked is not None:
        lines += place("entered at", asked.written)
    advice = text.advice or (_REPLICAS if "replica" in lines[0] else "")
    if advice:
        lines += row("to fix it", advice)
    return "\n".join(lines)


def _origin(message: str) -> str:
    caught = _CAUGHT.search(message)
    if caught:
        return caught["where"]
    ended = _ENDED.search(message)
    return f"process {ended['number']}" if ended else ""


def line_of_traced(message: str) -> Line | None:
    """The user's line that was being compiled: no frame of it is in the traceback."""
    _, found, frames = message.partition("from user code:")
    return _failed_at(frames) if found else None


def _failed_at(message: str) -> Line | None:
    """The user's innermost line in the traceback that the message has, or else outside torch."""
    lines = [
        (each["file"], Line(short_path(each["file"]), int(each["line"]), each["function"], text))
        for each in _FRAME.finditer(message)
        if not is_plumbing(each["file"])
        for text in [each["text"].strip()]
    ]
    own = [line for file, line in lines if is_users(file)]
    found = own or [line for _, line in lines]
    return found[-1] if found else None
