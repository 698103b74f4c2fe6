"""Runs scripts in processes of their own, within a time limit."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pytorch_examples.runs import TORCHRUN, Run
from benchmarks.pytorch_examples.scratch import Scratch

LIMIT = 150.0

NO_MACHINE = "runtime_guard is not in effect"
"""What the guard warns of where it could not make the virtual GPUs."""

_ports: dict[int, threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True)
class Machine:
    """What a script finds: a CPU that plays its accelerators, or virtual GPUs."""

    gpus: int
    is_virtual: bool

    def environment(self) -> dict[str, str]:
        """The variables that make it so, in every process of the script."""
        if not self.is_virtual:
            return {"EXAMPLES_PLAY": str(self.gpus)}
        return {"RUNTIME_GUARD": "off", "RUNTIME_GUARD_VIRTUAL_GPU": str(self.gpus)}


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    Attributes:
        status: the exit status; None where it did not end within the limit.
        said: standard output and error, one after the other.
        learned: what each process recorded; processes in the order of their rank and words.
        devices: the kinds of device on which backward began.
        files: the bytes of the files that the run is to write.
        seconds: how long it took.
    """

    status: int | None
    said: str
    learned: tuple[tuple[str, ...], ...]
    devices: tuple[str, ...]
    files: tuple[bytes | None, ...]
    seconds: float

    @property
    def is_well(self) -> bool:
        """Whether it ended as a run should, on the machine that was asked for."""
        return self.status == 0 and NO_MACHINE not in self.said


def launch(scratch: Scratch, run: Run, folder: Path, machine: Machine) -> Outcome:
    """Run the commands of a run in its copied folder, until one fails."""
    environment = scratch.environment(folder, machine.environment() | dict(run.variables))
    status: int | None = 0
    said = ""
    start = time.monotonic()
    with nullcontext() if run.port is None else _ports[run.port]:
        for command in run.commands:
            left = LIMIT - (time.monotonic() - start)
            status, words = execute(words_of(command), folder, environment, left)
            said += words
            if status != 0:
                break
    seconds = time.monotonic() - start
    record = folder.parent / "record"
    files = tuple(_bytes(folder / name) for name in run.outputs)
    return Outcome(status, said, learned(record), devices(record), files, seconds)


def words_of(command: str) -> list[str]:
    """What Python is given, to run one command."""
    words = shlex.split(command.replace("{port}", str(free_port())))
    if words[0] == "torchrun":
        words[0:1] = TORCHRUN
    return words


def execute(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limit: float,
    python: str | Path = sys.executable,
) -> tuple[int | None, str]:
    """Run Python in a folder, with these words: its exit status, or None, and what it said."""
    told = folder.parent / "said.txt"
    with told.open("wb") as file:
        process = subprocess.Popen(
            [python, *words],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end(process)
    return status, told.read_text(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the process and of its children: they are a group of their own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    """A port that nobody listens to."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def learned(record: Path) -> tuple[tuple[str, ...], ...]:
    """What was recorded: by rank, and without the process numbers, which differ between runs."""
    files = [(path.name.split(".")[0], path.read_text()) for path in record.glob("*.txt")]
    return tuple((rank, *text.splitlines()) for rank, text in sorted(files))


def devices(record: Path) -> tuple[str, ...]:
    """The kinds of device on which backward began."""
    return tuple(sorted(path.stem for path in record.glob("*.device")))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def edited(folder: Path, edits: Sequence[tuple[str, str, str]]) -> None:
    """Replace a text in files of a copied folder, wherever it stands.

    Raises:
        ValueError: it does not stand there.
    """
    for name, old, new in edits:
        text = (folder / name).read_text()
        if old not in text:
            raise ValueError(f"{name} has no {old!r}")
        (folder / name).write_text(text.replace(old, new))
