"""Internal errors in one line, with the place in devicelint."""

from __future__ import annotations

from devicelint.crash import error_in_one_line

CODE = "DEV900"
NAME = "internal-error"


def describe(error: BaseException) -> str:
    """Say what went wrong, and where in devicelint, without line breaks."""
    return f"{error_in_one_line(error)} (please report it)"
