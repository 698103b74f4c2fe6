"""Begins the notes of a process, as its environment asks."""

from __future__ import annotations

import atexit
import builtins
import os
from multiprocessing import util
from pathlib import Path
from typing import Any

from benchmarks.agreement.recording.instrumenting import ENTER, ENTER_FORWARD, NOTE
from benchmarks.agreement.recording.loading import Chosen, note_what_is_loaded
from benchmarks.agreement.recording.noting import Recorder
from benchmarks.agreement.recording.writing import write

INTO = "DEVICE_RECORD_INTO"
"""The variable that names the folder into which each process writes what it has noted."""
OF = "DEVICE_RECORD_OF"
"""The variable that names the folders and files whose expressions are noted."""


def begin() -> Chosen | None:
    """Begin, where that is asked for; gives the files that are noted."""
    folders = [one for one in os.environ.get(OF, "").split(os.pathsep) if one]
    into = os.environ.get(INTO)
    if not folders or not into:
        return None
    recorder = Recorder()
    names: Any = builtins
    setattr(names, NOTE, recorder.note)
    setattr(names, ENTER, recorder.enter)
    setattr(names, ENTER_FORWARD, recorder.enter_forward)
    chosen = Chosen(folders, recorder.places)
    note_what_is_loaded(chosen)
    _write_at_the_end(recorder, Path(into))
    return chosen


def _write_at_the_end(recorder: Recorder, into: Path) -> None:
    """At the end of this process, and of each that is forked off it."""

    def save() -> None:
        write(recorder, into)

    recorder.save = save
    atexit.register(save)
    os.register_at_fork(after_in_child=recorder.forget)
    util.register_after_fork(recorder, lambda _: util.Finalize(None, save, exitpriority=-100))
