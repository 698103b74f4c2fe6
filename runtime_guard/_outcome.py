"""What a guarded run came to: one line on standard error, and one JSON document."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime_guard._script import exit_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime_guard._activation import Activation
    from runtime_guard._enforcement import Moved

FINDINGS = "RUNTIME_GUARD_FINDINGS"
"""Names the folder where child processes leave what they found."""


class Outcome:
    """Waits for the end of the run that this process began."""

    def __init__(self, activation: Activation, json_path: Path | None) -> None:
        self._activation = activation
        self._json_path = json_path
        self._error: BaseException | None = None
        self._process = os.getpid()
        self._folder = tempfile.mkdtemp(prefix="runtime_guard-")
        os.environ[FINDINGS] = self._folder

    def notice(self, error: BaseException | None) -> None:
        """Take what ended the main program, and explain it if it is about devices."""
        self._error = error
        if isinstance(error, Exception) and "torch" in sys.modules:
            from runtime_guard._explain import annotate

            annotate(error)

    def tell(self) -> None:
        """Say and write what was found; a child that was forked off does nothing here."""
        if os.getpid() != self._process:
            return
        found = self._found()
        shutil.rmtree(self._folder, ignore_errors=True)
        summary = self._summary(found)
        if summary:
            sys.stderr.write(f"runtime_guard: {summary}\n")
        if self._json_path is not None:
            self._write(self._json_path, {**self._ending(), **found})

    def _found(self) -> dict[str, Any]:
        """What this process found, and then what its children did, each thing once."""
        own = findings(self._activation)
        for file in sorted(Path(self._folder).glob("*.json")):
            # A child that was killed while writing has left half a document.
            with suppress(ValueError, OSError):
                theirs = json.loads(file.read_text(encoding="utf-8"))
                for name, entries in own.items():
                    entries.extend(entry for entry in theirs[name] if entry not in entries)
        return own

    def _summary(self, found: dict[str, Any]) -> str:
        from runtime_guard._report_words import counted, size

        count = len(found["mismatches"])
        if not count or _is_about_devices(self._error):
            return ""
        said = counted(count, "mismatch", "mismatches")
        if found["moved"]:
            said += f", {size(sum(moved['bytes'] for moved in found['moved']))} moved"
        return f"{said}; {self._where_to_look()}"

    def _where_to_look(self) -> str:
        if self._json_path is not None:
            return f"written to {self._json_path}"
        action = self._activation.asked.settings.action
        told = "raised" if action == "raise" else "described"
        return f"each is {told} above, with what to write"

    def _ending(self) -> dict[str, Any]:
        guard = self._activation.guard
        placement = getattr(guard, "placement", None)
        return {
            "status": exit_status(self._error),
            "error": _described(self._error),
            "steps": guard.steps_done if guard else 0,
            "placement": placement.to_dict() if placement else None,
            "version": version(),
            "torch": _torch_version(),
        }

    def _write(self, path: Path, document: dict[str, Any]) -> None:
        order = ["status", "error", "mismatches", "moved", "steps", "placement", "version", "torch"]
        text = json.dumps({name: document[name] for name in order}, indent=2)
        try:
            write_atomically(path, text + "\n")
        except OSError as error:
            sys.stderr.write(f"runtime_guard: cannot write {path}: {error.strerror}\n")


def findings(activation: Activation) -> dict[str, list[dict[str, Any]]]:
    """What the guard of this process found, ready for JSON."""
    guard = activation.guard
    return {
        "mismatches": [mismatch.to_dict() for mismatch in guard.mismatches] if guard else [],
        "moved": _moves(guard.moved) if guard else [],
    }


def leave_findings(activation: Activation) -> None:
    """Leave what a child process found to the first process of the run."""
    folder = os.environ.get(FINDINGS)
    found = findings(activation)
    if folder and found["mismatches"]:
        # The first process may be gone, and the folder with it.
        with suppress(OSError):
            write_atomically(Path(folder) / f"{os.getpid()}.json", json.dumps(found))


def write_atomically(path: Path, text: str) -> None:
    """Write a file that holds the whole text, or is not there."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def version() -> str:
    """The version of this package, which is part of the distribution of devicelint."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of("devicelint")
    except PackageNotFoundError:
        return "unknown"


def _moves(moves: Sequence[Moved]) -> list[dict[str, Any]]:
    return [
        {"mismatch": each.mismatch.to_dict(), "count": each.count, "bytes": each.bytes}
        for each in moves
    ]


def _described(error: BaseException | None) -> dict[str, Any] | None:
    if error is None or isinstance(error, SystemExit):
        return None
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    return {"type": type(error).__qualname__, "message": "\n".join([str(error), *notes])}


def _is_about_devices(error: BaseException | None) -> bool:
    from runtime_guard._errors import DeviceMismatchError

    return isinstance(error, DeviceMismatchError)


def _torch_version() -> str | None:
    torch = sys.modules.get("torch")
    return str(torch.__version__) if torch else None
