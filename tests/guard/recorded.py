"""What tests of recordings have in common: something to record, and a look at what was written."""

import json
import os
from contextlib import suppress

import torch

from runtime_guard.mismatch import Mismatch, TensorFacts
from runtime_guard.profiler.recording.recording import read
from tests.guard.accelerator import on_accelerator

SMALL = 100_000


def transfer(times=1):
    x = on_accelerator(torch.ones(3))
    for _ in range(times):
        x.cpu()


def counted(path) -> list[int]:
    return [sum(tally.count for tally in each.totals.values()) for each in read(path)]


def types(path) -> list[str]:
    return [json.loads(line)["type"] for line in path.read_text().splitlines()]


def mismatch(name="encoder"):
    facts = TensorFacts("cpu", (2, 3), "torch.float32", 24)
    return Mismatch(name, "Linear", "input", facts, "cuda:0", "parameter 'weight'")


def recorder_count(recorder) -> int:
    return sum(tally.count for tally in recorder.totals.values())


def open_recordings() -> set[str]:
    """The files of recordings that this process has open."""
    found = set()
    for each in os.listdir("/proc/self/fd"):  # noqa: PTH208
        with suppress(OSError):
            found.add(os.readlink(f"/proc/self/fd/{each}"))  # noqa: PTH115
    return {each for each in found if each.endswith((".jsonl", ".1"))}
