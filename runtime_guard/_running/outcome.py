"""What a guarded run came to: one line on standard error, and one JSON document."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime_guard._errors import DeviceMismatchError
from runtime_guard._running.activation import FINDINGS
from runtime_guard._running.script import exit_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime_guard._guarding.enforcement import Moved
    from runtime_guard._running.activation import Activation


@dataclass(frozen=True, slots=True)
class Ending:
    """How the main program ended."""

    status: int = 0
    error: dict[str, str] | None = None
    told: bool = False
    """Whether its last words, a traceback, say what was found."""


class Outcome:
    """Waits for the end of the run that this process began, and then tells it once.

    Only the process that made it tells: children that are forked off carry a copy.
    """

    def __init__(self, activation: Activation, json_path: Path | None) -> None:
        self._activation = activation
        self._json_path = json_path
        self._ending = Ending()
        self._process = os.getpid()
        self._folder = _folder_for_children()

    def notice(self, error: BaseException | None) -> None:
        """Take what ended the main program, and explain it if it is about devices."""
        if isinstance(error, Exception) and "torch" in sys.modules:
            from runtime_guard._explaining.explain import annotate

            annotate(error)
        # Not the exception itself: it would keep all that its frames hold.
        about_devices = isinstance(error, DeviceMismatchError)
        self._ending = Ending(exit_status(error), _described(error), about_devices)

    def tell(self) -> None:
        """Say and write what was found."""
        if os.getpid() != self._process:
            return
        found = self._found()
        if found["mismatches"] and not self._ending.told:
            _say(f"{_counted(found)}; {self._where_to_look()}")
        if self._json_path is not None:
            self._write(self._json_path, self._document(found))

    def _found(self) -> dict[str, Any]:
        """What this process found, and then what its children did, each thing once."""
        # As JSON has it, like what children left: a shape is a list.
        found: dict[str, Any] = json.loads(json.dumps(findings(self._activation)))
        for theirs in _left_in(self._folder):
            found["steps"] = max(found["steps"], theirs["steps"])
            for name in ("mismatches", "moved"):
                found[name] += [entry for entry in theirs[name] if entry not in found[name]]
        return found

    def _where_to_look(self) -> str:
        if self._json_path is not None:
            return f"written to {self._json_path}"
        raising = self._activation.asked.settings.action == "raise"
        return f"each is {'raised' if raising else 'described'} above, with what to write"

    def _document(self, found: dict[str, Any]) -> dict[str, Any]:
        return {
            "status": self._ending.status,
            "error": self._ending.error,
            "mismatches": found["mismatches"],
            "moved": found["moved"],
            "steps": found["steps"],
            "version": version(),
            "torch": getattr(sys.modules.get("torch"), "__version__", None),
        }

    def _write(self, path: Path, document: dict[str, Any]) -> None:
        try:
            write_atomically(path, json.dumps(document, indent=2) + "\n")
        except OSError as error:
            _say(f"cannot write {path}: {error.strerror}")


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
        write_atomically(folder / f"{os.getpid()}.json", json.dumps(findings(activation)))


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


def _folder_for_children() -> Path:
    """Name a folder that no one else knows; the first child that has something makes it."""
    folder = Path(tempfile.gettempdir()) / f"runtime_guard-{os.urandom(8).hex()}"
    os.environ[FINDINGS] = str(folder)
    return folder


def _left_in(folder: Path) -> list[dict[str, Any]]:
    files = sorted(file for file in folder.glob("*.json") if not file.name.startswith("."))
    left = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    shutil.rmtree(folder, ignore_errors=True)
    return left


def _counted(found: dict[str, Any]) -> str:
    from runtime_guard._reporting.words import counted, size

    count = counted(len(found["mismatches"]), "mismatch", "mismatches")
    moved = sum(each["bytes"] for each in found["moved"])
    return f"{count}, {size(moved)} moved" if moved else count


def _moves(moves: Sequence[Moved]) -> list[dict[str, Any]]:
    return [
        {"mismatch": each.mismatch.to_dict(), "count": each.count, "bytes": each.bytes}
        for each in moves
    ]


def _described(error: BaseException | None) -> dict[str, str] | None:
    if error is None or isinstance(error, SystemExit):
        return None
    lines = [str(error), *map(str, getattr(error, "__notes__", ()))]
    return {"type": type(error).__qualname__, "message": "\n".join(filter(None, lines))}


def _say(message: str) -> None:
    # The program may have closed standard error, or put anything in its place.
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"runtime_guard: {message}\n")
