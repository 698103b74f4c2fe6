"""What Jupyter itself has to say of a notebook before it is written."""

from __future__ import annotations

import json
import warnings
from importlib.util import find_spec
from pathlib import Path

from devicelint.finding import InputError


def refuse_invalid(path: Path, data: bytes) -> None:
    """Asks nbformat, where that is installed, whether a notebook is as valid as it was.

    Raises InputError where it is not.
    """
    if find_spec("nbformat") is None:
        return
    complaint = _complaint(data)
    if complaint and not _complaint(path.read_bytes()):
        raise InputError(str(path), 1, 0, f"would be no valid notebook any more: {complaint}")


def _complaint(data: bytes) -> str:
    import nbformat

    try:
        with warnings.catch_warnings():
            # What it fixes by itself, in its own copy.
            warnings.simplefilter("ignore")
            nbformat.validate(json.loads(data.decode("utf-8-sig")))
    except (nbformat.ValidationError, ValueError, RecursionError) as error:
        return str(error).partition("\n")[0]
    except Exception as error:  # noqa: BLE001 - nbformat stumbles over some invalid notebooks
        return f"nbformat raises {type(error).__name__}"
    return ""
