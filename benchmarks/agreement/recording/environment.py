"""The environment in which a program, with all its processes, is recorded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.agreement.recording.starting import INTO, OF

BOOT = Path(__file__).with_name("boot")
"""The folder whose `sitecustomize` begins the notes of a process."""


def recording(
    environment: Mapping[str, str], sources: Sequence[Path], into: Path
) -> dict[str, str]:
    """An environment in which the files of `sources` are noted, each process into a file."""
    into.mkdir(parents=True, exist_ok=True)
    path = [str(BOOT), *filter(None, [environment.get("PYTHONPATH")])]
    chosen = os.pathsep.join(str(one.resolve()) for one in sources)
    added = {"PYTHONPATH": os.pathsep.join(path), INTO: str(into.resolve()), OF: chosen}
    return {**environment, **added}
