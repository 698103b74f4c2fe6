"""Imported when a Python starts: begins its notes, and imports the file that this one hides."""

import os
import sys

import device_recording  # type: ignore[import-not-found]  # noqa: F401

FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH120 - pathlib would be imported


def _hand_over() -> None:
    """Import the `sitecustomize` that this one hides."""
    sys.path[:] = [entry for entry in sys.path if entry != FOLDER]
    own = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


_hand_over()
