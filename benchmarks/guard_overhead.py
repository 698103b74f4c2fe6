"""What guarding costs: per module call and per training step, beside what else one could use.

    python benchmarks/guard_overhead.py [--rounds 15] [--device cpu] [--only NAME] [--json FILE]

All ways to guard take turns within each round, on the same model, so that a busy moment of the
machine hits all of them; a ratio is the median of the rounds' ratios. README.md says what is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

import runtime_guard

Step = Callable[[], object]
Way = Callable[[nn.Module, Step], AbstractContextManager[object]]


# The ways to guard a model. Each prepares it, and takes everything back at the end.


def off(_model: nn.Module, _step: Step) -> AbstractContextManager[object]:
    """Nothing: what the others are compared with."""
    return contextlib.nullcontext()


def explain(_model: nn.Module, _step: Step) -> AbstractContextManager[object]:
    """Explain errors, check nothing."""
    handle: AbstractContextManager[object] = runtime_guard.explain()
    return handle


def check(model: nn.Module, _step: Step) -> AbstractContextManager[object]:
    """The guard, on every step."""
    return runtime_guard.guard(model)


def install(_model: nn.Module, _step: Step) -> AbstractContextManager[object]:
    """The guard of the whole process."""
    return runtime_guard.install()


@contextlib.contextmanager
def after_steps(model: nn.Module, step: Step) -> Iterator[None]:
    """A guard of three steps, after its end."""
    with runtime_guard.guard(model, steps=3) as handle:
        for _ in range(3):
            step()
            handle.step()
        yield


@contextlib.contextmanager
def record(_model: nn.Module, _step: Step) -> Iterator[None]:
    """Transfers are recorded, to a file."""
    with (
        tempfile.TemporaryDirectory() as folder,
        runtime_guard.record(Path(folder) / "run.jsonl"),
    ):
        yield


@contextlib.contextmanager
def hooked(model: nn.Module, hook: Callable[..., None]) -> Iterator[None]:
    """`hook` on every module."""
    hooks = [m.register_forward_pre_hook(hook, with_kwargs=True) for m in model.modules()]
    yield
    for each in hooks:
        each.remove()


def no_op_hook(model: nn.Module, _step: Step) -> AbstractContextManager[object]:
    """A hook that does nothing: the least that any guard by hooks costs."""
    return hooked(model, lambda _module, _args, _kwargs: None)


def naive(model: nn.Module, _step: Step) -> AbstractContextManager[object]:
    """The guard that one writes first: pytree, and the model's first parameter."""

    def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        parameter = next(module.parameters(), None)
        if parameter is not None:
            for leaf in tree_leaves((args, kwargs)):
                assert not isinstance(leaf, Tensor) or leaf.device == parameter.device

    return hooked(model, hook)


@contextlib.contextmanager
def asserts(model: nn.Module, _step: Step) -> Iterator[None]:
    """An assert written by hand at the top of each forward, which sees its first argument alone."""

    def wrapped(module: nn.Module) -> Callable[..., object]:
        original = module.forward

        def forward(value: Tensor, *rest: Any, **more: Any) -> object:
            weight = next(iter(module._parameters.values()))
            assert value.device == weight.device, f"{value.device} is not {weight.device}"
            return original(value, *rest, **more)

        return forward

    owners = [module for module in model.modules() if module._parameters.get("weight") is not None]
    for module in owners:
        module.forward = wrapped(module)
    yield
    for module in owners:
        del module.forward


WAYS: dict[str, Way] = {
    "off": off,
    "explain": explain,
    "check": check,
    "install": install,
    "steps=3, after": after_steps,
    "record": record,
    "no-op hook": no_op_hook,
    "naive hook": naive,
    "asserts by hand": asserts,
}


# What is guarded.


@dataclass(frozen=True)
class Subject:
    """A model with a batch for it."""

    name: str
    model: nn.Module
    batch: Tensor

    @property
    def module_calls(self) -> int:
        """How many modules one forward calls."""
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        with hooked(self.model, count):
            self.model(self.batch)
        return calls

    def training_step(self) -> Step:
        """A closure that trains one step."""
        optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)

        def step() -> None:
            optimizer.zero_grad()
            self.model(self.batch).square().mean().backward()
            optimizer.step()

        return step


def transformer(layers: int, width: int, batch: tuple[int, int], device: str) -> Subject:
    """An encoder; `batch` is (sequences, tokens)."""
    layer = nn.TransformerEncoderLayer(width, max(width // 64, 2), 4 * width, batch_first=True)
    model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    return Subject(
        f"transformer {layers}x{width}",
        model.to(device),
        torch.randn(*batch, width, device=device),
    )


def subjects(device: str) -> Iterator[Subject]:
    """The models, from the one where a call weighs most to the one where it weighs least."""
    if device != "cpu":
        yield transformer(12, 768, (32, 128), device)
        return
    mlp = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
    mlp.append(nn.Linear(64, 10))
    yield Subject("MLP", mlp, torch.randn(32, 64))
    yield Subject("small CNN", convolutions(), torch.randn(16, 3, 32, 32))
    yield transformer(12, 64, (4, 32), device)
    yield transformer(12, 256, (4, 64), device)
    yield transformer(6, 768, (4, 64), device)


def convolutions() -> nn.Module:
    """Three blocks of convolution, and a classifier."""
    blocks: list[nn.Module] = []
    for before, after in [(3, 16), (16, 32), (32, 64)]:
        blocks += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
        blocks.append(nn.MaxPool2d(2))
    return nn.Sequential(*blocks, nn.Flatten(), nn.Linear(1024, 10))


class Leaf(nn.Module):
    """The cheapest module that has a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, value: Tensor) -> Tensor:
        """Give back what it was given."""
        return value


# How it is timed.


@dataclass(frozen=True)
class Row:
    """One way to guard one subject; seconds are medians, `ratio` is to `off` in the same round."""

    subject: str
    way: str
    seconds: float
    ratio: float
    added: float
    spread: float


def measure(name: str, model: nn.Module, step: Step, rounds: int, least: float) -> list[Row]:
    """Time every way in turn, `rounds` times."""
    repeats = calibrate(step, least)
    samples: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, enter in WAYS.items():
            with enter(model, step):
                step()
                samples[way].append(timed(step, repeats))
    plain = samples["off"]
    rows = []
    for way, times in samples.items():
        ratios = [time / base for time, base in zip(times, plain, strict=True)]
        added = [time - base for time, base in zip(times, plain, strict=True)]
        quarters = statistics.quantiles(ratios, n=4)
        rows.append(
            Row(
                name,
                way,
                statistics.median(times),
                statistics.median(ratios),
                statistics.median(added),
                quarters[2] - quarters[0],
            )
        )
    return rows


def calibrate(step: Step, least: float) -> int:
    """How often to run `step` for a sample of `least` seconds."""
    step()
    repeats = 1
    while (seconds := timed(step, repeats) * repeats) < least:
        repeats = max(repeats * 2, int(repeats * least / max(seconds, 1e-9)))
    return repeats


def timed(step: Step, repeats: int) -> float:
    """Seconds for one run of `step`."""
    synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    synchronize()
    return (time.perf_counter() - start) / repeats


def synchronize() -> None:
    """Wait for the GPU, where there is one."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


# What is promised.


def promises(calls: list[Row], steps: list[Row]) -> Iterator[tuple[str, float, float]]:
    """Each promise, with what was measured and the limit."""
    added = {row.way: row.added * 1e6 for row in calls}
    yield "check, us a module call", added["check"], 2.6
    yield "explain, us a module call", added["explain"], 0.05
    yield "after steps=3, us a module call", added["steps=3, after"], 0.05
    for name, limit in [("transformer 12x64", 5.0), ("transformer 12x768", 1.0)]:
        for row in steps:
            if row.subject == name and row.way == "check":
                yield f"check, % of a step of {name}", (row.ratio - 1) * 100, limit


def show(title: str, rows: list[Row], unit: float, unit_name: str) -> None:
    """Print one table."""
    print(f"\n{title}")
    for row in rows:
        change = f"{(row.ratio - 1) * 100:+7.1f} %  (quartiles {row.spread * 100:.1f} apart)"
        added = f"{row.added * unit:+9.3f} {unit_name}"
        print(f"  {row.way:18}{row.seconds * unit:10.3f} {unit_name}  {added}  {change}")


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and say which promises hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="", help="subjects whose name contains this")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    versions = f"torch {torch.__version__}, Python {platform.python_version()}"
    print(f"{versions}, {options.device}, one thread, {options.rounds} rounds", flush=True)
    calls = time_calls(options.rounds)
    steps = time_steps(options.device, options.only, options.rounds)
    if options.json:
        document = {"versions": versions, "device": options.device, "rounds": options.rounds}
        document |= {"rows": [asdict(row) for row in calls + steps]}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0 if tell_promises(calls, steps) else 1


def time_calls(rounds: int) -> list[Row]:
    """One table: what a call of a module costs."""
    leaf, value = Leaf(), torch.zeros(1)
    rows = measure("module call", leaf, lambda: leaf(value), rounds, 0.02)
    show("A call of a module with one parameter", rows, 1e6, "us")
    return rows


def time_steps(device: str, only: str, rounds: int) -> list[Row]:
    """A table for each subject: what a training step costs."""
    all_rows = []
    for subject in subjects(device):
        if only in subject.name:
            rows = measure(subject.name, subject.model, subject.training_step(), rounds, 0.05)
            title = f"A training step of {subject.name}, {subject.module_calls} module calls"
            show(title, rows, 1e3, "ms")
            all_rows += rows
    return all_rows


def tell_promises(calls: list[Row], steps: list[Row]) -> bool:
    """Print each promise with what was measured; whether all hold."""
    held = True
    print("\nPromises")
    for name, figure, limit in promises(calls, steps):
        held &= figure <= limit
        print(f"  {'pass' if figure <= limit else 'FAIL'}  {name}: {figure:.3f} (at most {limit})")
    return held


if __name__ == "__main__":
    sys.exit(main())
