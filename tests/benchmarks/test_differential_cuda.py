"""The judge of generated programs on CUDA: a virtual GPU stands for that of a computer."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from benchmarks.differential import cuda, measuring
from benchmarks.differential.__main__ import main
from benchmarks.differential.cuda import ContextLost, Cuda, cuda_here
from benchmarks.differential.measuring import Order, measured
from benchmarks.differential.program import Program
from benchmarks.differential.trial import trial
from runtime_guard import virtual_gpu
from tests.benchmarks.differential_programs import (
    CATCHES,
    CHOSEN,
    FAILS,
    MIXES,
    NEEDS_TWO,
    RUNS,
    program,
)

ASSERTED = "CUDA error: device-side assert triggered"


@dataclass(frozen=True)
class Mortal(Cuda):
    """Is lost with a run: the first of a program, or the one that looks for its culprits."""

    last: int = 0
    runs: list[None] = field(default_factory=list)

    def settle(self) -> None:
        """End with the run after the last."""
        self.runs.append(None)
        if len(self.runs) > self.last:
            raise ContextLost(ASSERTED)


@pytest.fixture(name="computer")
def on_a_computer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Cuda], None]]:
    """Makes this the computer of such GPUs, and their programs a few known ones."""

    def becomes(gpus: Cuda) -> None:
        monkeypatch.setattr(cuda, "cuda_here", lambda: gpus)
        monkeypatch.setattr(measuring, "programs_of", lambda seed: iter([RUNS, MIXES, NEEDS_TWO]))

    with virtual_gpu(1):
        yield becomes


def endings(gpus: int, programs: Sequence[Program]) -> list[list[tuple[int, str]]]:
    with virtual_gpu(gpus), trial(cuda=cuda_here()) as one:
        return [[(run.gpus, run.ending) for run in ran.runs] for ran in one.ran(programs)]


# -- the machine that the computer is -------------------------------------------------------------


@pytest.mark.parametrize(("gpus", "ordinal"), [(1, "device error"), (2, "passed")])
def test_programs_run_there_alone(gpus: int, ordinal: str) -> None:
    said = ["device error", "passed", ordinal, "other error", "passed"]
    programs = (MIXES, RUNS, NEEDS_TWO, FAILS, CATCHES)
    assert endings(gpus, programs) == [[(gpus, ending)] for ending in said]


def test_more_than_two_gpus_count_as_several() -> None:
    assert endings(4, [RUNS]) == [[(2, "passed")]]


def test_culprits_and_callers_are_found_there() -> None:
    given = program(
        "import torch",
        CHOSEN,
        "def make():",
        "    return torch.ones(3)",
        "x = make()",
        "x.to(device)",
        "x + torch.ones(3, device=device)",
    )
    with virtual_gpu(1), trial(cuda=cuda_here()) as one:
        (ran,) = one.ran([given])
    error = ran.runs[0].error
    assert error is not None
    assert error.operation == "add"
    assert error.culprits == {4, 6, 7}
    assert error.callers == {5}


def test_what_a_program_changes_of_cuda_is_gone_after_it() -> None:
    changes = program(
        "import torch",
        "torch.cuda.set_device(1)",
        "torch.cuda.set_stream(torch.cuda.Stream())",
        "torch.cuda.manual_seed_all(7)",
    )
    asks = program(
        "import torch",
        "assert torch.cuda.current_device() == 0",
        "for number in range(2):",
        "    usual = torch.cuda.default_stream(number)",
        "    assert torch.cuda.current_stream(number) == usual",
        "    assert torch.cuda.initial_seed() == 0",
    )
    assert endings(2, [changes, asks]) == [[(2, "passed")]] * 2


# -- the command ----------------------------------------------------------------------------------


def test_the_table_has_that_machine_and_names_the_others(
    computer: Callable[[Cuda], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    computer(Cuda(1, "A GPU"))
    figures = tmp_path / "figures.json"
    assert main(["--json", str(figures)]) == 0
    rows = capsys.readouterr().out.splitlines()
    first = next(number for number, row in enumerate(rows) if row.startswith("on a machine with"))
    machine, through, alarmed, errors, _, others = rows[first + 1].rsplit(maxsplit=5)
    assert (machine, through, alarmed, errors, others) == ("1 GPU", "1", "0", "2", "0")
    assert rows[first + 2].strip() == (
        "run on CUDA itself (A GPU); left out: machines with no GPU and 2 GPUs"
    )
    assert rows[-1].endswith("of 2 raising, false alarms 0 of 1 passing")
    found = json.loads(figures.read_text())
    assert (found["cuda"], found["lost"], found["programs"]) == ("A GPU", "", 3)


@pytest.mark.parametrize("given", [["--on", "virtual"], []])
def test_virtual_gpus_are_for_who_asks_or_has_no_others(
    given: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cuda, "cuda_here", lambda: Cuda(1, "A GPU") if given else None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert main([*given, "--programs", "1"]) == 0
    out = capsys.readouterr().out
    assert "no GPU " in out
    assert "2 GPUs " in out
    assert "left out" not in out
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--on", "cuda"], "--on cuda: torch sees no GPU on this computer"),
        (["--on", "cuda", "--planted"], "--planted is for virtual GPUs"),
    ],
)
def test_cuda_that_is_not_there_is_one_message(
    given: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cuda, "cuda_here", lambda: None)
    with pytest.raises(SystemExit) as left:
        main(given)
    assert left.value.code == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert last.startswith(f"python -m benchmarks.differential: error: {said}")


# -- CUDA that is lost ----------------------------------------------------------------------------


def test_what_follows_a_lost_context_is_not_judged(
    computer: Callable[[Cuda], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The second program runs twice: the second time, its culprits are looked for.
    computer(Mortal(1, "A GPU", last=2))
    assert main(["--seed", "3", "4", "--out", str(tmp_path / "cases")]) == 2
    said = capsys.readouterr()
    assert said.out.splitlines()[-1].endswith("of 0 raising, false alarms 0 of 1 passing")
    assert said.err == f"python -m benchmarks.differential: program 2 of seed 3: {ASSERTED}\n"
    assert not (tmp_path / "cases").exists()


def test_a_context_that_is_lost_while_a_case_is_reduced_is_told(
    computer: Callable[[Cuda], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    computer(Mortal(1, "A GPU", last=5))
    assert main(["--programs", "3", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert "of 2 raising" in said.out.splitlines()[-1]
    assert said.err == f"python -m benchmarks.differential: reducing a case: {ASSERTED}\n"


def test_the_first_part_that_is_lost_is_the_last(computer: Callable[[Cuda], None]) -> None:
    computer(Mortal(1, "A GPU", last=5))
    gpus = Mortal(1, "A GPU", last=6)
    found = measured([Order(seed, 3, None, gpus) for seed in (1, 2, 3)])
    assert found.tally.programs == 4
    assert found.lost.startswith("program 2 of seed 2: ")


def test_cuda_is_asked_whether_it_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(device: int) -> None:
        raise torch.AcceleratorError(f"{ASSERTED} on {device}\nCompile with TORCH_USE_CUDA_DSA")

    here = Cuda(1, "A GPU")
    with virtual_gpu(1):
        here.settle()
        monkeypatch.setattr(torch.cuda, "synchronize", raises)
        with pytest.raises(ContextLost, match=f"^{ASSERTED} on 0: nothing that follows"):
            here.settle()


def test_processes_are_told_of_the_gpus() -> None:
    order = Order(1, 3, None, Cuda(1, "A GPU"))
    assert pickle.loads(pickle.dumps(order)) == order
