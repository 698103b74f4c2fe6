"""Show what devicelint does to one broken training script, and fail where it does not.

Run by `make demo` in an environment that holds devicelint and no torch.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

COMMAND = Path(sysconfig.get_path("scripts")) / "devicelint"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class DemoError(Exception):
    """A step did not do what the demo is there to show."""


def step(title: str, *arguments: str, expected: int) -> str:
    """Run devicelint, show the command and what it says, and insist on its exit status."""
    print(f"\n== {title}\n$ devicelint {shlex.join(arguments)}", flush=True)
    ran = subprocess.run(
        [COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=environment(),
        check=False,
    )
    print(ran.stdout, end="", flush=True)
    if ran.returncode != expected:
        raise DemoError(f"{title}: exit status {ran.returncode}, not {expected}")
    return COLOUR.sub("", ran.stdout)


def environment() -> dict[str, str]:
    """Return this environment; devicelint's output passes through here and keeps its colours."""
    colours = {"FORCE_COLOR": "1"} if sys.stdout.isatty() else {}
    return {**colours, **os.environ}


def show(script: Path) -> None:
    """Find, show the fixes, fix a copy, and find nothing more."""
    found = step("What is wrong, and why", str(script), expected=1)
    if "DEV" not in found:
        raise DemoError("no finding was shown")
    diff = step("What would change", "--diff", "--unsafe-fixes", str(script), expected=1)
    if "\n+++ " not in diff:
        raise DemoError("no difference was shown")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(script, folder))
        step("Fix a copy of it", "--fix", "--unsafe-fixes", str(copy), expected=0)
        if copy.read_bytes() == script.read_bytes():
            raise DemoError("the copy was not changed")
        step("Check the copy again", str(copy), expected=0)


def main() -> int:
    """Run from the command line, with the path of the script."""
    if len(sys.argv) != 2:
        print("usage: demo.py SCRIPT, one of examples/broken", file=sys.stderr)
        return 2
    try:
        show(Path(sys.argv[1]))
    except (DemoError, OSError) as error:
        print(f"\nThe demo failed: {error}", file=sys.stderr)
        return 1
    print("\nThe script is fixed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
