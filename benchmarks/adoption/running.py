"""Runs a script as it was and as it is adopted, on several machines: does it learn the same?"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.adoption.cells import text_of
from benchmarks.adoption.inputs import ENVIRONMENT, FILES
from benchmarks.adoption.listed import Listed
from benchmarks.adoption.serving import Server
from benchmarks.adoption.shortening import shortened
from benchmarks.pytorch_examples.comparing import last_line
from benchmarks.pytorch_examples.launching import NO_MACHINE, devices, learned

LIMIT = 60.0
"""In seconds: a run that takes longer is not compared."""

_FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")
"""Where something lies on this machine: of no use to others."""

Prepare = Callable[[], Path]
"""Makes a fresh folder with the repository in it, and names the script there."""

PLAIN: Mapping[str, str] = {}
PLAYING: Mapping[str, str] = {"EXAMPLES_PLAY": "1"}
"""The CPU answers to `.cuda()`, so that a script that must have a GPU can be compared."""


def gpus(count: int) -> Mapping[str, str]:
    """A machine with virtual GPUs."""
    return {"RUNTIME_GUARD": "off", "RUNTIME_GUARD_VIRTUAL_GPU": str(count)}


@dataclass(frozen=True)
class Outcome:
    """What a run came to: `fault` is empty where it ended well."""

    fault: str
    learned: tuple[tuple[str, ...], ...]
    devices: tuple[str, ...]


@dataclass(frozen=True)
class Ran:
    """What became of a script when it was run, and why."""

    verdict: str
    told: str = ""


def compare(listed: Listed, before: Prepare, after: Prepare, server: Server) -> Ran:
    """Run a script before and after, on the CPU and on virtual GPUs."""

    def run(prepare: Prepare, machine: Mapping[str, str]) -> Outcome:
        return _run(listed, prepare(), machine, server)

    first = run(before, gpus(1) if listed.kind == "cuda" else PLAIN)
    if first.fault:
        return Ran("not runnable", first.fault)
    if not any(first.learned):
        return Ran("not runnable", "nothing calls backward")
    for count in (1, 2):
        virtual = run(after, gpus(count))
        if virtual.fault:
            return Ran(f"fails on {count} virtual GPU{'s'[: count - 1]}", virtual.fault)
        if "cuda" not in virtual.devices:
            return Ran("trains on the CPU", f"with {count} virtual GPUs")
    adopted = run(after, PLAIN)
    if adopted.fault:
        return Ran("fails on the CPU", adopted.fault)
    reference = run(before, PLAYING) if listed.kind == "cuda" else first
    if reference.fault:
        return Ran("not compared", reference.fault)
    if reference.learned != adopted.learned:
        return Ran("differs on the CPU", _difference(reference.learned, adopted.learned))
    return Ran("same")


def _difference(before: tuple[tuple[str, ...], ...], after: tuple[tuple[str, ...], ...]) -> str:
    for old, new in zip(before, after, strict=False):
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            if one != other:
                return f"record {number}: {one}, then {other}"
    return "another number of records"


def _run(listed: Listed, script: Path, machine: Mapping[str, str], server: Server) -> Outcome:
    folder = script.parent
    runnable = _runnable(script)
    record = folder / ".record"
    record.mkdir()
    words = [runnable.name, *listed.arguments]
    environment = {**machine, "EXAMPLES_RECORD": str(record)}
    for name in listed.inputs:
        environment |= ENVIRONMENT.get(name, {})
        if name in FILES:
            path, text = FILES[name]
            (folder / path).write_text(text)
    status, said = server.run(folder, words, environment, LIMIT)
    fault = ""
    if status is None:
        fault = f"not done after {LIMIT:g} s"
    elif status != 0 or NO_MACHINE in said:
        fault = _FOLDERS.sub("", last_line(said))[:200]
    outcome = Outcome(fault, learned(record), devices(record))
    shutil.rmtree(record)
    return outcome


def _runnable(script: Path) -> Path:
    """The script with short loops, where a notebook's cells make a script."""
    data = script.read_bytes()
    if script.suffix == ".ipynb":
        script = script.with_suffix(".adoption.py")
        data = text_of(data).encode()
    for each in (script, *script.parent.glob("*.py")):
        text = data if each == script else each.read_bytes()
        try:
            each.write_text(shortened(text.decode()), encoding="utf-8")
        except (SyntaxError, UnicodeDecodeError):
            each.write_bytes(text)
    return script
