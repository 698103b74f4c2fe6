"""What a guarded run came to: one line on standard error, and one JSON document."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from runtime_guard.errors import DeviceMismatchError
from runtime_guard.launcher.findings import (
    Leaving,
    clear,
    findings,
    folder_for_children,
    left_in,
)
from runtime_guard.launcher.script import exit_status
from runtime_guard.profiler.report.writing import is_stream, write_whole
from runtime_guard.witnesses import witnesses

if TYPE_CHECKING:
    from pathlib import Path

    from runtime_guard.launcher.activation import Activation
    from runtime_guard.mismatch import Mismatch


@dataclass(frozen=True, slots=True)
class Ending:
    """How the main program ended."""

    status: int | None = 0
    """None for a run that has not ended, or that was killed."""
    error: dict[str, str] | None = None
    reported: bool = False
    """Whether its last words, a traceback, say what was found."""


class Outcome:
    """Waits for the end of the run that this process began, and then reports it once.

    Only the process that made it reports: children that are forked off carry a copy.
    """

    def __init__(self, activation: Activation, json_path: Path | None) -> None:
        self._activation = activation
        self._json_path = json_path
        self._ending = Ending(None)
        self._process = os.getpid()
        self._folder = folder_for_children()
        self._leaving = Leaving(activation, self._folder, first=self._process)
        self._written = -1
        self._witnesses = (self._leaving, self._write_so_far)
        witnesses.extend(self._witnesses)
        # What an earlier run left there would be taken for this one's.
        self._write_so_far()

    def notice(self, error: BaseException | None) -> None:
        """Take what ended the main program, and explain it if it is about devices."""
        explains = self._activation.asked.mode != "off"
        if explains and isinstance(error, Exception) and "torch" in sys.modules:
            from runtime_guard.messages.explain import annotate

            annotate(error)
        # Not the exception itself: it would keep all that its frames hold.
        about_devices = isinstance(error, DeviceMismatchError)
        self._ending = Ending(exit_status(error), _described(error), about_devices)

    def report(self) -> None:
        """Say and write what was found."""
        if os.getpid() != self._process:
            return
        for witness in self._witnesses:
            witnesses.remove(witness)
        found = self._found()
        clear(self._folder)
        if found["mismatches"] and not self._ending.reported:
            _say(f"{_counted(found)}; {self._where_to_look()}")
        if self._json_path is not None:
            try:
                self._write(self._json_path, found)
            except OSError as error:
                _say(f"cannot write {self._json_path}: {error.strerror}")

    def _write_so_far(self, _mismatch: Mismatch | None = None) -> None:
        """Write what would be lost if the process were killed, or ended by `os._exit`."""
        path, guard = self._json_path, self._activation.guard
        count = len(guard.mismatches) if guard else 0
        if path is None or os.getpid() != self._process or count == self._written:
            return
        self._written = count
        # The end says why it cannot be written; a stream takes one document.
        with suppress(OSError):
            if not is_stream(path):
                self._write(path, self._found())

    def _found(self) -> dict[str, Any]:
        """What this process found, and then what its children did, each thing once."""
        # As JSON has it, like what children left: a shape is a list.
        found: dict[str, Any] = json.loads(json.dumps(findings(self._activation)))
        for theirs in left_in(self._folder):
            found["steps"] = max(found["steps"], theirs["steps"])
            for name in ("mismatches", "moved"):
                found[name] += [entry for entry in theirs[name] if entry not in found[name]]
        return found

    def _where_to_look(self) -> str:
        if self._json_path is not None:
            return f"written to {self._json_path}"
        raising = self._activation.asked.settings.action == "raise"
        return f"each is {'raised' if raising else 'described'} above, with what to write"

    def _machine(self) -> dict[str, Any] | None:
        machine = self._activation.asked.machine
        return None if machine is None else asdict(machine)

    def _document(self, found: dict[str, Any]) -> dict[str, Any]:
        return {
            "status": self._ending.status,
            "error": self._ending.error,
            "virtual_gpu": self._machine(),
            "mismatches": found["mismatches"],
            "moved": found["moved"],
            "steps": found["steps"],
            "version": version(),
            "torch": getattr(sys.modules.get("torch"), "__version__", None),
        }

    def _write(self, path: Path, found: dict[str, Any]) -> None:
        write_whole(path, json.dumps(self._document(found), indent=2) + "\n")


def version() -> str:
    """The version of this package, which is part of the distribution of devicelint."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of("devicelint")
    except PackageNotFoundError:
        return "unknown"


def _counted(found: dict[str, Any]) -> str:
    from runtime_guard.profiler.report.words import counted, size

    count = counted(len(found["mismatches"]), "mismatch", "mismatches")
    moved = sum(each["bytes"] for each in found["moved"])
    return f"{count}, {size(moved)} moved" if moved else count


def _described(error: BaseException | None) -> dict[str, str] | None:
    if error is None or isinstance(error, SystemExit):
        return None
    lines = [str(error), *map(str, getattr(error, "__notes__", ()))]
    return {"type": type(error).__qualname__, "message": "\n".join(filter(None, lines))}


def _say(message: str) -> None:
    # The program may have closed standard error, or put anything in its place.
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"runtime_guard: {message}\n")
