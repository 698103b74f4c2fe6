"""Runs a script in a process of its own, for so many steps and so long, on a virtual machine."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias, TypeVar

from runtime_guard._children import PROOF
from runtime_guard._proving.failures import printed
from runtime_guard._proving.plan import Failure, Folder, Left, Plan

Item = TypeVar("Item")
Result = TypeVar("Result")

Ending: TypeAlias = Literal["passed", "failed", "timed out"]

FIXED = {"PYTHONHASHSEED": "0"}
"""What runs that are compared with each other have in common."""

QUIET = {"MPLBACKEND": "Agg", "WANDB_MODE": "disabled"}
"""Keeps a run from waiting for a window, or telling others of itself, unless that is asked for."""


_under_way: set[subprocess.Popen[bytes]] = set()


@dataclass(frozen=True, slots=True)
class Job:
    """How a script is run.

    Attributes:
        script: its file, as it was named.
        arguments: what it is given.
        steps: how many training steps are made; all, if None.
        timeout: the seconds that a run may take.
        threads: how many threads torch computes with; as many as it likes, if None.
    """

    script: str
    arguments: Sequence[str] = ()
    steps: int | None = None
    timeout: float = 300
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run.

    Attributes:
        gpus: how many virtual GPUs the machine had.
        ending: whether it came to its end, or to the end of its steps, in time.
        status: its exit status; None if it was not in time.
        steps: the training steps that were made.
        devices: where the parameters were when they were made.
        failure: what ended it, or a child of it.
        digest: of the parameters at the end; empty where there were none.
        output: of what was printed to standard output.
        seconds: what it took.
        reached: the indices of the marks that were reached.
    """

    gpus: int
    ending: Ending
    status: int | None
    steps: int
    devices: tuple[str, ...]
    failure: Failure | None
    digest: str
    output: str
    seconds: float
    reached: frozenset[int]


def run(job: Job, text: bytes, devices: int, shown: bytes | None = None) -> Run:
    """Run a script on a machine with so many virtual GPUs, or none.

    Args:
        job: what is run, and how.
        text: what is read in the place of the script.
        devices: how many there are.
        shown: the same text without marks, where it has any.
    """
    with tempfile.TemporaryDirectory(prefix="runtime_guard-", ignore_cleanup_errors=True) as name:
        folder = Folder(Path(name))
        files = {
            "text": (folder.path / "text.py", text),
            "shown": (folder.path / "shown.py", text if shown is None else shown),
        }
        for file, data in files.values():
            file.write_bytes(data)
        paths = {what: str(file) for what, (file, _) in files.items()}
        folder.write_plan(Plan(os.path.realpath(job.script), steps=job.steps, **paths))
        return _result(job, devices, folder)


def each(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> list[Result]:
    """Do work that runs scripts for each item, so many at the same time.

    Where it is interrupted, no run goes on.
    """
    if jobs == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(work, items))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in tuple(_under_way):
                _end_group(process)
            raise


def _result(job: Job, devices: int, folder: Folder) -> Run:
    output, errors = folder.path / "output", folder.path / "errors"
    begun = time.monotonic()
    with output.open("wb") as out, errors.open("wb") as err:
        status = _status(job, devices, folder.path, (out, err))
    seconds = time.monotonic() - begun
    said = errors.read_text(encoding="utf-8", errors="replace").splitlines()
    left = list(folder.left())
    failure = _failure(status, left, said)
    return Run(
        gpus=devices,
        ending="timed out" if status is None else "failed" if failure else "passed",
        status=status,
        steps=max((each.steps for each in left), default=0),
        devices=tuple(sorted({device for each in left for device in each.devices})),
        failure=failure,
        digest=" ".join(sorted(filter(None, (each.digest for each in left)))),
        output=hashlib.sha256(output.read_bytes()).hexdigest(),
        seconds=round(seconds, 1),
        reached=folder.reached(),
    )


def _failure(status: int | None, left: Sequence[Left], said: Sequence[str]) -> Failure | None:
    if status is None:
        return None
    raised = next((each.failure for each in left if each.failure is not None), None)
    if status == 0:
        return printed(said)
    if raised is not None:
        return raised
    last = next((line.strip() for line in reversed(said) if line.strip()), "")
    return Failure("", last or f"it ended with status {status}")


def _status(
    job: Job, devices: int, folder: Path, streams: tuple[IO[bytes], IO[bytes]]
) -> int | None:
    """The exit status of the run; None where its time was over. No child of it is left."""
    process = subprocess.Popen(
        _command(job, devices),
        stdin=subprocess.DEVNULL,
        stdout=streams[0],
        stderr=streams[1],
        env=_environment(job, devices, folder, os.environ),
        start_new_session=True,
    )
    _under_way.add(process)
    try:
        return process.wait(job.timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end_group(process)
        _under_way.discard(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _command(job: Job, devices: int) -> list[str]:
    machine = f"--virtual-gpu={devices}"
    guard = [sys.executable, "-m", "runtime_guard", "--action=explain", machine, "--"]
    script = f"./{job.script}" if job.script.startswith("-") else job.script
    return [*guard, script, *job.arguments]


def _environment(
    job: Job, devices: int, folder: Path, inherited: Mapping[str, str]
) -> dict[str, str]:
    known = {
        name: value for name, value in inherited.items() if not name.startswith("RUNTIME_GUARD")
    }
    told = {**QUIET, **known, **FIXED, PROOF: str(folder)}
    if job.threads is not None:
        told["OMP_NUM_THREADS"] = str(job.threads)
    if devices == 0:
        # A machine that has an accelerator plays one that has none.
        told["CUDA_VISIBLE_DEVICES"] = ""
    return told
