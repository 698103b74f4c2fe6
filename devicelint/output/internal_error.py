"""How a mistake of devicelint itself is told: in one line, with the place."""

from __future__ import annotations

from devicelint.plugins.crash import mishap

CODE = "DEV900"
NAME = "internal-error"


def describe(error: BaseException) -> str:
    """Say what went wrong, and where in devicelint, without line breaks."""
    return f"{mishap(error)} (please report it)"
