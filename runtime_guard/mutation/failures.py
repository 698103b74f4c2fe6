"""What ended a run: the exception's own line, and the line of the user's where it was raised."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runtime_guard.lines import is_users
from runtime_guard.messages.texts import TEXTS, text_of
from runtime_guard.mutation.plan import Failure

_LAST_LINE = re.compile(r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception)): (.*)")
"""The last line of a traceback, as Python prints it."""

_ENTRY = re.compile(r'\s+File "(.+)", line (\d+)')
"""The line of a traceback that names a place."""


def failure_of(error: BaseException) -> Failure:
    """What an exception says, and where."""
    text = text_of(error)
    # The first argument of an error of the system is its number.
    whole = (error,) if isinstance(error, OSError) else error.args[:1]
    message = "\n".join(map(str, whole))
    file, line = _place(error)
    words = _main_line(message, text.expression if text else None)
    return Failure(type(error).__name__, words, file, line, text is not None)


def printed(lines: Iterable[str]) -> Failure | None:
    """The first error about devices whose traceback a process printed; None if there is none.

    Children print theirs, and a script may not ask how its children ended.
    """
    file, number = "", 0
    for line in lines:
        if entry := _ENTRY.match(line):
            if is_users(entry[1]):
                file, number = entry[1], int(entry[2])
        elif (last := _LAST_LINE.match(line)) and is_about_devices(last[2]):
            return Failure(last[1], last[2], file, number, about_devices=True)
    return None


def is_about_devices(message: str) -> bool:
    """Whether a message is one of torch's about devices, whatever exception bears it."""
    return any(re.search(text.expression, message) for text in TEXTS)


def _main_line(message: str, expression: str | None) -> str:
    """The line of a message that matters: the one about devices, or else the last one."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if expression:
        about_devices = [line for line in lines if re.search(expression, line)]
        lines = about_devices[:1] or lines
    return lines[-1] if lines else ""


def _place(error: BaseException) -> tuple[str, int]:
    """The innermost line of the user's; what cannot be compiled says itself where."""
    if isinstance(error, SyntaxError):
        return error.filename or "", error.lineno or 0
    found = ("", 0)
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if is_users(file):
            found = (file, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found
