"""Runs a script in a process of its own, for so many steps and so long, on a virtual machine."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias, TypeVar

from runtime_guard.children import PROOF
from runtime_guard.mutation.failures import printed
from runtime_guard.mutation.plan import Failure, Folder, Left, Loss, Plan
from runtime_guard.mutation.real import only

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
        gpus: how many GPUs the machine had.
        ending: whether it came to its end, or to the end of its steps, in time.
        status: its exit status; None if it was not in time.
        steps: the training steps that were made.
        devices: where the parameters were when they were made.
        failure: what ended it, or a child of it.
        digest: of the parameters at the end; empty where there were none.
        output: of what was printed to standard output.
        seconds: what it took.
        reached: the indices of the marks that were reached.
        losses: those of each process that trained.
        real: whether the GPUs are real ones; else they are virtual.
        by_hand: whether no optimizer made the steps; then the devices are those of the losses.
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
    losses: tuple[tuple[Loss, ...], ...] = ()
    real: bool = False
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Replacement:
    """What is read in the place of a file.

    Attributes:
        data: its bytes.
        shown: the same without marks, where it has any.
        file: of which file; the script's, if empty.
    """

    data: bytes
    shown: bytes | None = None
    file: str = ""


@dataclass(frozen=True, slots=True)
class ScriptMachine:
    """What a script is run on.

    Attributes:
        gpus: how many GPUs it has.
        real: whether they are real ones; else they are virtual.
    """

    gpus: int
    real: bool = False


def run(job: Job, texts: Sequence[Replacement], machine: ScriptMachine) -> Run:
    """Run a script on a machine, with other texts in the place of files."""
    with tempfile.TemporaryDirectory(prefix="runtime_guard-", ignore_cleanup_errors=True) as name:
        folder = Folder(Path(name))
        written = dict(_written(job, texts, folder))
        folder.write_plan(Plan(written, job.steps))
        return _result(job, machine, folder)


def _written(
    job: Job, texts: Sequence[Replacement], folder: Folder
) -> Iterator[tuple[str, tuple[str, str]]]:
    """The texts as files of their own, for each file that they stand for."""
    for index, text in enumerate(texts):
        shown = text.data if text.shown is None else text.shown
        files = (folder.path / f"{index}.text", folder.path / f"{index}.shown")
        for file, data in zip(files, (text.data, shown), strict=True):
            file.write_bytes(data)
        yield os.path.realpath(text.file or job.script), (str(files[0]), str(files[1]))


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


def _result(job: Job, machine: ScriptMachine, folder: Folder) -> Run:
    output, errors = folder.path / "output", folder.path / "errors"
    begun = time.monotonic()
    with output.open("wb") as out, errors.open("wb") as err:
        status = _status(job, machine, folder.path, (out, err))
    seconds = time.monotonic() - begun
    said = errors.read_text(encoding="utf-8", errors="replace").splitlines()
    left = list(folder.left())
    failure = _failure(status, left, said)
    return Run(
        gpus=machine.gpus,
        ending="timed out" if status is None else "failed" if failure else "passed",
        status=status,
        steps=max((each.steps for each in left), default=0),
        devices=tuple(sorted({device for each in left for device in each.devices})),
        failure=failure,
        digest=" ".join(sorted(filter(None, (each.digest for each in left)))),
        output=hashlib.sha256(output.read_bytes()).hexdigest(),
        seconds=round(seconds, 1),
        reached=folder.reached(),
        losses=tuple(sorted((tuple(each.losses) for each in left if each.losses), key=repr)),
        real=machine.real,
        by_hand=any(each.by_hand for each in left),
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
    job: Job, machine: ScriptMachine, folder: Path, streams: tuple[IO[bytes], IO[bytes]]
) -> int | None:
    """The exit status of the run; None where its time was over. No child of it is left."""
    process = subprocess.Popen(
        _command(job, machine),
        stdin=subprocess.DEVNULL,
        stdout=streams[0],
        stderr=streams[1],
        env=_environment(job, machine, folder, os.environ),
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


def _command(job: Job, machine: ScriptMachine) -> list[str]:
    virtual = () if machine.real else (f"--virtual-gpu={machine.gpus}",)
    guard = [sys.executable, "-m", "runtime_guard", "--action=explain", *virtual, "--"]
    script = f"./{job.script}" if job.script.startswith("-") else job.script
    return [*guard, script, *job.arguments]


def _environment(
    job: Job, machine: ScriptMachine, folder: Path, inherited: Mapping[str, str]
) -> dict[str, str]:
    known = {
        name: value for name, value in inherited.items() if not name.startswith("RUNTIME_GUARD")
    }
    variables = {**QUIET, **known, **FIXED, PROOF: str(folder)}
    if job.threads is not None:
        variables["OMP_NUM_THREADS"] = str(job.threads)
    if machine.real or machine.gpus == 0:
        # A machine that has accelerators plays one that has fewer, or none.
        variables.update(only(machine.gpus, inherited))
    return variables
