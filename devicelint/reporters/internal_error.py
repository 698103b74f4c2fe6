"""How a mistake of devicelint itself is told: in one line, with the place."""

from __future__ import annotations

import traceback
from pathlib import Path

CODE = "DEV900"
NAME = "internal-error"


def describe(error: BaseException) -> str:
    """Say what went wrong, and where in devicelint, without line breaks."""
    what = " ".join(traceback.format_exception_only(type(error), error)[-1].split())
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return f"{what} (please report it)"
    place = f"{'/'.join(Path(frames[-1].filename).parts[-2:])}:{frames[-1].lineno}"
    return f"{what} at {place} (please report it)"
