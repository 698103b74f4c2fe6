"""What the virtual GPU costs: a training step beside plain CPU, and the start of a process.

    python -m benchmarks.virtual_gpu_cost [--rounds 15] [--only NAME] [--json FILE]

The same model takes the same steps on the CPU and on the virtual GPU, in turn within each round; a
ratio is the median of the rounds' ratios. README.md says what is timed.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn

from benchmarks.guard_overhead import Step, Subject, convolutions, transformer
from runtime_guard import virtual_gpu

LIMITS = {"MLP": 2.0, "transformer 12x64": 1.5, "transformer 6x256": 1.15}
"""How many times the CPU's time a step may take at most."""

START_LIMIT = 0.3
"""How many seconds of the processor the first step of a process may take more."""


@dataclass(frozen=True)
class Row:
    """What one subject costs; seconds are medians, the ratios are those of each round."""

    subject: str
    plain: float
    virtual: float
    ratio: float
    low: float
    high: float


# A training step.


def subjects() -> Iterator[Subject]:
    """The models, from the one where a call weighs most to the one where it weighs least."""
    mlp = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
    mlp.append(nn.Linear(64, 10))
    yield Subject("MLP", mlp, torch.randn(32, 64))
    yield Subject("small CNN", convolutions(), torch.randn(16, 3, 32, 32))
    yield transformer(12, 64, (4, 32), "cpu")
    yield transformer(6, 256, (4, 64), "cpu")


def measure(subject: Subject, rounds: int, least: float) -> Row:
    """Time both in turn; then both models have learned the same, or the times say nothing.

    Raises:
        AssertionError: the models differ.
    """
    torch.manual_seed(0)
    machine = virtual_gpu()
    with machine:
        moved = Subject(subject.name, deepcopy(subject.model).cuda(), subject.batch.cuda())
        virtual = moved.training_step()
        torch.manual_seed(1)
        virtual()
    plain = subject.training_step()
    torch.manual_seed(1)
    plain()
    repeats = max(1, round(least / timed(plain, 1, 0)))
    with machine:
        timed(virtual, 1, 0)
    pairs = []
    for seed in range(rounds):
        first = timed(plain, repeats, seed)
        with machine:
            pairs.append((first, timed(virtual, repeats, seed)))
    for own, other in zip(subject.model.parameters(), moved.model.parameters(), strict=True):
        assert torch.equal(own, other), f"{subject.name} learns something else"
    return row_of(subject.name, pairs)


def row_of(name: str, pairs: list[tuple[float, float]]) -> Row:
    """The medians and quartiles of what was timed."""
    ratios = [virtual / plain for plain, virtual in pairs]
    low, ratio, high = statistics.quantiles(ratios, n=4)
    plain, virtual = map(statistics.median, zip(*pairs, strict=True))
    return Row(name, plain, virtual, ratio, low, high)


def timed(step: Step, repeats: int, seed: int) -> float:
    """Seconds of the processor for one run of `step`, in which dropout draws the same again."""
    torch.manual_seed(seed)
    start = time.process_time()
    for _ in range(repeats):
        step()
    return (time.process_time() - start) / repeats


# The start of a process.

BEGIN = """
import time
import torch
{enter}
layer = torch.nn.Linear(4, 4, device="{device}")
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer(torch.ones(2, 4, device="{device}")).sum().backward()
optimizer.step()
print(time.process_time())
"""
ENTER = """
import torch._dynamo
start = time.process_time()
import runtime_guard
runtime_guard.virtual_gpu().__enter__()
print(time.process_time() - start)
"""


def start(rounds: int) -> dict[str, list[float]]:
    """What the first step of a process takes, on the CPU and on the virtual GPU, and the block."""
    found: dict[str, list[float]] = {"plain": [], "virtual": [], "block": []}
    for _ in range(rounds):
        found["plain"] += child(BEGIN.format(enter="", device="cpu"))
        block, virtual = child(BEGIN.format(enter=ENTER, device="cuda"))
        found["block"].append(block)
        found["virtual"].append(virtual)
    return found


def child(code: str) -> list[float]:
    """The figures that a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


# What is promised.


def promises(
    rows: list[Row], seconds: dict[str, list[float]]
) -> Iterator[tuple[str, float, float]]:
    """Each promise, with what was measured and the limit."""
    for row in rows:
        if row.subject in LIMITS:
            yield f"a step of {row.subject}, times the CPU's", row.ratio, LIMITS[row.subject]
    yield "importing and entering, s", statistics.median(seconds["block"]), START_LIMIT


def show(row: Row) -> None:
    """Print what one subject costs."""
    times = f"{row.plain * 1e3:10.3f} ms {row.virtual * 1e3:10.3f} ms"
    print(
        f"  {row.subject:18}{times}  {row.ratio:5.2f}  ({row.low:.2f} to {row.high:.2f})",
        flush=True,
    )


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and say which promises hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="subjects whose name contains this")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    versions = f"torch {torch.__version__}, Python {platform.python_version()}"
    print(
        f"{versions}, one thread, {options.rounds} rounds\n\nA training step: CPU, virtual, ratio"
    )
    rows = []
    for subject in subjects():
        if options.only in subject.name:
            rows.append(measure(subject, options.rounds, 0.05))
            show(rows[-1])
    seconds = start(max(3, options.rounds // 3))
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    print("\nTo the end of the first step of a process, and importing and entering alone")
    print("  CPU {plain:.2f} s, virtual {virtual:.2f} s, block {block:.3f} s".format(**medians))
    if options.json:
        document = {"versions": versions, "rows": [asdict(row) for row in rows], "start": medians}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0 if tell_promises(rows, seconds) else 1


def tell_promises(rows: list[Row], seconds: dict[str, list[float]]) -> bool:
    """Print each promise with what was measured; whether all hold."""
    held = True
    print("\nPromises")
    for name, figure, limit in promises(rows, seconds):
        held &= figure <= limit
        print(f"  {'pass' if figure <= limit else 'FAIL'}  {name}: {figure:.3f} (at most {limit})")
    return held


if __name__ == "__main__":
    sys.exit(main())
