"""`--watch`: check again whenever a file changes."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep

from devicelint.cli import terminal
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import STDIN
from devicelint.workspace.files import PASSED_OVER

_SUFFIXES = (".py", ".pyi", ".pyw", ".ipynb", ".md", ".toml")
_SECONDS_BETWEEN_LOOKS = 0.5


def refuse_contradictions(options: Namespace) -> None:
    """Say before anything is done what cannot be watched; raises UsageError."""
    if STDIN in options.paths:
        raise UsageError("--watch looks at files, and - (standard input) is none")
    for name in ("interactive", "prove", "write_baseline", "add_noqa", "add_ignore"):
        if getattr(options, name, None):
            option = name.replace("_", "-")
            raise UsageError(f"--watch checks again and again: give it without --{option}")


def watch(check: Callable[[], None], paths: Sequence[str]) -> int:
    """Check, and again after each change, until somebody interrupts; return 0."""
    folders = sorted({_folder(Path(path)) for path in paths or ["."]})
    try:
        while True:
            before = _state(folders)
            _clear_screen()
            check()
            terminal.say("Watching for changes; Ctrl-C ends")
            while _state(folders) == before:
                sleep(_SECONDS_BETWEEN_LOOKS)
    except KeyboardInterrupt:
        return 0


def _folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _clear_screen() -> None:
    if sys.stdout.isatty() and sys.stderr.isatty():
        sys.stdout.write("\033[2J\033[H")


def _state(folders: Sequence[Path]) -> dict[str, tuple[int, int]]:
    """When each file has changed, and how large it is."""
    found: dict[str, tuple[int, int]] = {}
    waiting = [str(folder) for folder in folders]
    while waiting:
        with suppress(OSError):  # It may go away meanwhile.
            for entry in os.scandir(waiting.pop()):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in PASSED_OVER:
                        waiting.append(entry.path)
                elif entry.name.endswith(_SUFFIXES):
                    status = entry.stat()
                    found[entry.path] = status.st_mtime_ns, status.st_size
    return found
