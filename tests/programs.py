"""Programs that are no part of Python: tests that ask them are skipped where they are not."""

from __future__ import annotations

import os
import shutil

import pytest


def program(name: str) -> str:
    """Return where it is; DEVICELINT_PROGRAMS=required makes its absence a failure."""
    found = shutil.which(name)
    if found is None:
        if os.environ.get("DEVICELINT_PROGRAMS") == "required":
            pytest.fail(f"{name} is not on this machine")
        pytest.skip(f"{name} is not on this machine")
    return found
