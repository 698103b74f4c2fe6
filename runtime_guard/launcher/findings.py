"""What the guard of a process found, and how child processes leave theirs to the first one."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime_guard.launcher.activation import FINDINGS
from runtime_guard.profiler.report.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime_guard.hooks.enforcement import Moved
    from runtime_guard.launcher.activation import Activation
    from runtime_guard.mismatch import Mismatch


class Leaving:
    """A witness that leaves what a child process finds as soon as it is found.

    Pools and loaders end their workers by a signal, and what is forked calls no function of
    atexit: the end would be too late.

    Args:
        activation: what is in effect in this process, and in those that are forked off it.
        folder: where the first process looks.
        first: the process that reports itself what it finds, if it is this one.
    """

    def __init__(self, activation: Activation, folder: Path, first: int | None = None) -> None:
        self._activation = activation
        self._folder = folder
        self._first = first
        self._left: tuple[int, int] | None = None

    def __call__(self, _mismatch: Mismatch | None = None) -> None:
        """Leave all that was found so far, if there is more than before."""
        process, guard = os.getpid(), self._activation.guard
        if process == self._first or guard is None:
            return
        if self._left is None or self._left[0] != process:
            # At its end a process of multiprocessing has counted what it moved.
            multiprocessing = sys.modules.get("multiprocessing.util")
            if multiprocessing is not None:
                multiprocessing.Finalize(None, self.leave, exitpriority=0)
        left = (process, len(guard.mismatches))
        if left != self._left:
            self._left = left
            self.leave()

    def leave(self) -> None:
        """Leave all that was found so far, in the place of what was left before."""
        leave_findings(self._activation, self._folder)


def findings(activation: Activation) -> dict[str, Any]:
    """What the guard of this process found, ready for JSON."""
    guard = activation.guard
    return {
        "mismatches": [mismatch.to_dict() for mismatch in guard.mismatches] if guard else [],
        "moved": _moves(guard.moved) if guard else [],
        "steps": guard.steps_done if guard else 0,
    }


def leave_findings(activation: Activation, folder: Path) -> None:
    """Leave what a child process found to the first process of the run."""
    # Nothing to be done where it cannot be written; the child has said it itself.
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        write_whole(folder / f"{os.getpid()}.json", json.dumps(findings(activation)))


def folder_for_children() -> Path:
    """Name a folder that no one else knows; the first child that has something makes it."""
    folder = Path(tempfile.gettempdir()) / f"runtime_guard-{os.urandom(8).hex()}"
    os.environ[FINDINGS] = str(folder)
    return folder


def left_in(folder: Path) -> list[dict[str, Any]]:
    """What the children left, as far as they have come; they need not have ended."""
    files = sorted(file for file in folder.glob("*.json") if not file.name.startswith("."))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def clear(folder: Path) -> None:
    """Leave nothing behind of what the children left."""
    shutil.rmtree(folder, ignore_errors=True)


def _moves(moves: Sequence[Moved]) -> list[dict[str, Any]]:
    return [
        {"mismatch": each.mismatch.to_dict(), "count": each.count, "bytes": each.bytes}
        for each in moves
    ]
