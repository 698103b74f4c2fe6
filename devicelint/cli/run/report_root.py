"""The folder from which reports name files to other programs: that of the repository."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""Where GitHub and GitLab say that they have put the repository."""


def report_root(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the nearest folder upwards that is a checkout; the current one where none is."""
    here = Path.cwd()
    known = {Path(environment[name]) for name in _CHECKOUTS if environment.get(name)}
    for folder in (here, *here.parents):
        if folder in known or (folder / ".git").exists():
            return folder
    return here
