"""`--prove`: has runtime_guard run a script before and after its fixes, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devicelint.cli.arguments import UsageError
from devicelint.cli.inputs import STDIN
from devicelint.finding import InputError

if TYPE_CHECKING:
    from devicelint.engine import Fixed

NEEDED = {"runtime_guard": "runtime_guard", "torch": "PyTorch"}
"""What runs scripts: the package that is imported there, and its name for people."""

DEFAULT_STEPS = "3"


def refuse_contradictions(options: Namespace) -> None:
    """Say before anything is written what cannot be proven.

    Raises:
        UsageError: the options make no sense together, or what a proof needs is not installed.
    """
    if not (options.fix or options.diff):
        raise UsageError("--prove runs what --fix or --diff makes of a script: give one of them")
    if len(options.paths) != 1 or options.paths == [STDIN] or Path(options.paths[0]).is_dir():
        raise UsageError("--prove runs a script: give one file")
    missing = [name for package, name in NEEDED.items() if find_spec(package) is None]
    if missing:
        needs = f"--prove needs {' and '.join(missing)}, not installed here"
        raise UsageError(f"{needs}: pip install 'devicelint[guard]'")


def run(fixed: Fixed, options: Namespace) -> dict[str, Any]:
    """Run a script as it was and as it is now, and return what each machine made of it.

    Raises:
        InputError: it cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="devicelint-") as folder:
        texts = {"after": fixed.after.to_bytes()}
        if fixed.applied:
            texts["before"] = fixed.before.to_bytes()
        files = {name: Path(folder) / name for name in texts}
        for name, data in texts.items():
            files[name].write_bytes(data)
        said = subprocess.run(
            _command(fixed.after.path, files, options), capture_output=True, check=False
        )
    try:
        document: dict[str, Any] = json.loads(said.stdout)
        return document
    except ValueError:
        lines = said.stderr.decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"runtime_guard ended with status {said.returncode}"
        raise InputError(fixed.after.path, 1, 0, f"nothing is proven: {why}") from None


def _command(script: str, files: dict[str, Path], options: Namespace) -> list[str]:
    words = [sys.executable, "-m", "runtime_guard", "prove", "--json=-"]
    words += [f"--{name}={file}" for name, file in files.items()]
    words.append(f"--steps={options.prove_steps or DEFAULT_STEPS}")
    if options.prove_timeout is not None:
        words.append(f"--timeout={options.prove_timeout}")
    # A name that begins with a dash is no option.
    words.append(f"./{script}" if script.startswith("-") else script)
    return [*words, *(options.prove_args or ())]
