"""Long runs and sudden ends: memory stays flat, files stay bounded, and what is written is read."""

import gc
import mmap
import multiprocessing
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard.profiler.recording.recording import read
from tests.guard.accelerator import on_accelerator

STEPS = 20_000
WARM_UP = 2_000
MAX_BYTES = 400_000
KILLS = 20
BATCH = 256


def anonymous_bytes() -> int:
    """Return the memory that the process has filled itself: pages of files come and go."""
    (line,) = [
        each
        for each in Path("/proc/self/status").read_text().splitlines()
        if each.startswith("RssAnon:")
    ]
    return int(line.split()[1]) * 1024


def memory() -> tuple[int, int]:
    """Return the memory of the process, and how many pieces of it Python has handed out."""
    gc.collect()
    return anonymous_bytes(), sys.getallocatedblocks()


def size_of(path: Path) -> int:
    return sum(each.stat().st_size for each in path.parent.iterdir())


def train(steps, model, optimizer):
    batch = on_accelerator(torch.ones(4, 8))
    for _ in range(steps):
        here = batch.cpu()
        loss = model(here).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        on_accelerator(loss.detach()).item()


def memory_of_a_long_run(path: Path) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Record a long run; return the memory after the warm-up and at the end, and the steps."""
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with runtime_guard.record(path, max_bytes=MAX_BYTES) as recorder:
        train(WARM_UP, model, optimizer)
        before = memory()
        for _ in range(STEPS // 1000):
            train(1000, model, optimizer)
            assert size_of(path) <= MAX_BYTES
        return before, memory(), recorder.steps


def test_twenty_thousand_steps_leave_memory_flat_and_the_file_bounded(tmp_path):
    path = tmp_path / "run.jsonl"
    # A process of its own: in pytest's, the memory of other tests comes and goes.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        before, after, recorded = pool.apply(memory_of_a_long_run, (path,))
    (resident, blocks), (resident_after, blocks_after) = before, after
    steps = WARM_UP + STEPS
    assert resident_after <= resident * 1.02
    assert blocks_after - blocks < STEPS // 20, "something is kept for each step"
    (recording,) = read(path)
    assert [tally.count for tally in recording.totals.values()] == [steps, steps]
    assert [tally.bytes for tally in recording.totals.values()] == [128 * steps, 4 * steps]
    assert recording.steps == recorded == steps
    assert recording.complete
    assert len(recording.events) < steps / 10, "the rest was rotated away"


def record_until_killed(path: Path, progress: mmap.mmap) -> None:
    runtime_guard.record(path, max_bytes=100_000)
    x = on_accelerator(torch.ones(4))
    done = 0
    while True:
        x.cpu()
        done += 1
        progress[:8] = done.to_bytes(8, "little")


def fork(function, *arguments) -> int:
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            function(*arguments)
        finally:
            os._exit(1)
    return child


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_run_leaves_a_recording_that_can_be_read(number, tmp_path):
    path = tmp_path / "run.jsonl"
    progress = mmap.mmap(-1, 8)

    def count() -> int:
        return int.from_bytes(progress[:8], "little")

    child = fork(record_until_killed, path, progress)
    wanted = random.Random(number).randrange(1, 5_000)
    deadline = time.monotonic() + 30
    while count() < wanted and time.monotonic() < deadline:
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    _pid, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    done = count()
    (recording,) = read(path)
    (written,) = [tally.count for tally in recording.totals.values()] or [0]
    # One batch may still be in memory, and one on its way to the disk.
    assert done - 2 * BATCH <= written <= done + 1
    assert not recording.complete
    assert size_of(path) <= 100_000
