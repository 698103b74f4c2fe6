"""An internal error, or one of a plug-in, in one line."""

from __future__ import annotations

import traceback
from pathlib import Path


def error_in_one_line(error: BaseException) -> str:
    """Say what went wrong, and where, without line breaks."""
    what = " ".join(traceback.format_exception_only(type(error), error)[-1].split())
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return what
    place = f"{'/'.join(Path(frames[-1].filename).parts[-2:])}:{frames[-1].lineno}"
    return f"{what} at {place}"
