"""Runs a script of this folder in several processes that find each other through a file.

The processes are forked off one that has imported torch, which takes seconds, once.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
import time
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
PRELOADED = ["torch", "torch.distributed.fsdp", "torch.distributed.tensor.parallel", "pytest"]


@dataclass(frozen=True)
class Ended:
    """How one rank ended: its exit status, None where it hung, and all it wrote."""

    status: int | None
    output: str


def launch(script: str, *arguments: str, folder: Path, ranks: int = 2) -> list[Ended]:
    """Run a script once for each rank, in `folder`; for at most a minute."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    command = [str(FOLDER / script), *arguments]
    started = [
        context.Process(target=_run, args=(command, folder, rank, ranks)) for rank in range(ranks)
    ]
    for process in started:
        process.start()
    deadline = time.monotonic() + 60
    for process in started:
        process.join(max(0.0, deadline - time.monotonic()))
    return [_ended(process, folder / f"rank{rank}.out") for rank, process in enumerate(started)]


def _ended(process: multiprocessing.process.BaseProcess, output: Path) -> Ended:
    status = process.exitcode
    if status is None:
        process.kill()
        process.join()
    return Ended(status, output.read_text() if output.exists() else "")


def _run(command: list[str], folder: Path, rank: int, ranks: int) -> None:
    os.chdir(folder)
    with Path(f"rank{rank}.out").open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), OMP_NUM_THREADS="1")
    os.environ["RENDEZVOUS"] = (folder / "rendezvous").absolute().as_uri()
    sys.argv[:] = command
    try:
        runpy.run_path(command[0], run_name="__main__")
    except Exception as error:  # noqa: BLE001 - as Python ends a script, and not multiprocessing
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)
