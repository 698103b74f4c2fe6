"""Where the time of a run without a cache goes: by cause, not by function.

    python -m benchmarks.causes FOLDER... [--json FILE]

Each folder is checked once, in a process of its own.  What is done for one cause within another
one counts for the inner one alone.  The seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import io
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table


class Cause(NamedTuple):
    """What a function of devicelint is called for; the label may depend on its first argument."""

    module: str
    name: str
    label: str | Callable[[Any], str]


def _walk(run: Any) -> str:
    """The machine, or the settings, for which a program is walked."""
    if run.world.settings:
        return "walk: a program once more, for another setting"
    if run.world.accelerators == 1:
        return "walk: a program on a machine with one accelerator"
    return "walk: a program on another machine"


CAUSES = (
    Cause("libcst", "parse_module", "parse"),
    Cause("devicelint.interpreter.worlds", "_walk", _walk),
    Cause(
        "devicelint.interpreter.worlds",
        "_walk_unentered",
        "walk: what a file defines and does not call",
    ),
    Cause("devicelint.workspace.project", "shown_by", "other files: what they call, and save"),
    Cause("devicelint.linter.lint", "led_to", "other files: what programs lead to"),
    Cause("devicelint.linter.offered", "_refused", "fixes that are offered: each is tried"),
    Cause("devicelint.workspace.project_use", "ProjectUse.about", "questions about the project"),
    Cause("devicelint.linter.walks", "findings_of_walk", "reports: callers, places, fixes"),
    Cause("devicelint.cli.run.checking", "Checking.close", "cache"),
)
"""The first that is entered within one of `_FOR_OTHERS` counts for that."""
_FOR_OTHERS = frozenset(
    {"other files: what they call, and save", "other files: what programs lead to"}
    | {"fixes that are offered: each is tried"}
)


class Clock:
    """Processor seconds by cause, and how often each was entered."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.entered: Counter[str] = Counter()
        self._open = ["all else"]
        self._since = time.process_time()

    def begin(self, label: str) -> None:
        """Count for a cause from here on; what is done for others keeps counting for that."""
        self._count()
        outer = self._open[-1]
        self._open.append(outer if outer in _FOR_OTHERS else label)
        self.entered[label] += 1

    def end(self) -> None:
        """Count for the cause around it again."""
        self._count()
        self._open.pop()

    def collects(self, phase: str, _: object) -> None:
        """Count garbage collections: a callback of `gc`."""
        if phase == "start":
            self.begin("garbage collection")
        else:
            self.end()

    def _count(self) -> None:
        now = time.process_time()
        self.seconds[self._open[-1]] += now - self._since
        self._since = now


def timed(clock: Clock, cause: Cause) -> None:
    """Let a function of devicelint count for its cause."""
    owner: Any = importlib.import_module(cause.module)
    *outer, name = cause.name.split(".")
    for one in outer:
        owner = getattr(owner, one)
    function = getattr(owner, name)

    @wraps(function)
    def counted(*args: Any, **named: Any) -> Any:
        clock.begin(cause.label if isinstance(cause.label, str) else cause.label(args[0]))
        try:
            return function(*args, **named)
        finally:
            clock.end()

    setattr(owner, name, counted)


def check(folder: str) -> dict[str, Any]:
    """Check a folder here; the seconds and entries by cause, and the lines of Python in it."""
    clock = Clock()
    clock.begin("import of devicelint and libcst")
    main = importlib.import_module("devicelint.cli").main
    for cause in CAUSES:
        timed(clock, cause)
    gc.callbacks.append(clock.collects)
    clock.end()
    options = ["--no-cache", "--jobs=1", "--exit-zero", "--quiet"]
    sys.argv = ["devicelint", folder, *options]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    clock.end()
    lines = sum(path.read_bytes().count(b"\n") for path in Path(folder).rglob("*.py"))
    return {"lines": lines, "seconds": clock.seconds, "entered": clock.entered}


def table(folder: str, found: dict[str, Any]) -> Table:
    """The causes of one folder, the most expensive first."""
    total = sum(found["seconds"].values())
    lines = found["lines"]
    title = (
        f"{Path(folder).name}: {lines:,} lines, {total:.1f} s, {total / lines * 1e6:.0f} µs a line"
    )
    shown = Table("cause", "seconds", "share", "times", title=title)
    for cause, seconds in sorted(found["seconds"].items(), key=lambda item: -item[1]):
        times = found["entered"].get(cause, 0)
        shown.add_row(cause, f"{seconds:.2f}", f"{seconds / total:.1%}", str(times or ""))
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Check each folder in a process of its own, and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        print(json.dumps(check(options.folders[0])))
        return 0
    found = {}
    for folder in options.folders:
        command = [sys.executable, "-m", "benchmarks.causes", "--here", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[folder] = json.loads(done.stdout)
        Console().print(table(folder, found[folder]))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
