"""The environment in which a program, with all its processes, is recorded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.agreement.recording.starting import INTO, OF

BOOT = Path(__file__).with_name("boot")
"""The folder whose `sitecustomize` begins the notes of a process."""
MODULE = "device_recording"
"""The module there that begins them, for who imports it in another way."""


def variables(sources: Sequence[Path], into: Path) -> dict[str, str]:
    """What a process finds in its environment that is to note the files of `sources`."""
    into.mkdir(parents=True, exist_ok=True)
    chosen = os.pathsep.join(str(one.resolve()) for one in sources)
    return {INTO: str(into.resolve()), OF: chosen}


def recording(
    environment: Mapping[str, str], sources: Sequence[Path], into: Path
) -> dict[str, str]:
    """An environment in which the files of `sources` are noted, each process into a file."""
    path = [str(BOOT), *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, "PYTHONPATH": os.pathsep.join(path), **variables(sources, into)}
