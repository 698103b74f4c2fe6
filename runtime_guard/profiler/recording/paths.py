"""The names of the files of one recording: every process of a run writes its own."""

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

CHILD = "RUNTIME_GUARD_CHILD"
"""Set to 1 in the environment by who started the recording, for the processes that follow."""


def own_path(path: Path, rank: int | None, child: bool) -> Path:
    """Name the file of this process: `path` itself is that of the first, or of rank 0."""
    if rank:
        path = _marked(path, f"rank{rank}")
    return child_path(path) if child else path


def is_child(rank: int | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether another process of this run has the name already."""
    if environ.get(CHILD) != "1":
        return False
    # The worker processes of a rank inherit its number with its environment.
    return rank is None or multiprocessing.parent_process() is not None


def child_path(path: Path) -> Path:
    """Name the file of a process that is neither the first nor a rank."""
    return _marked(path, f"pid{os.getpid()}")


def rotated_name(path: Path) -> Path:
    """Name the older half of a recording that outgrew one file."""
    return path.with_name(path.name + ".1")


def siblings(path: Path) -> Iterator[Path]:
    """Yield the files that ranks and child processes wrote beside `path`."""
    name = re.compile(
        rf"{re.escape(path.stem)}(\.rank\d+)?(\.pid\d+)?{re.escape(path.suffix)}", re.ASCII
    )
    for found in sorted(path.parent.iterdir()):
        if name.fullmatch(found.name) and found.name != path.name and _has_lines(found):
            yield found


def _has_lines(path: Path) -> bool:
    """Return whether more is there than a process leaves that is killed before its first event."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.readline().endswith(b"\n")


def _marked(path: Path, mark: str) -> Path:
    return path.with_name(f"{path.stem}.{mark}{path.suffix}")
