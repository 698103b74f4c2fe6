"""Fixes judged by generated programs: what harms is counted, and what still raises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.differential.__main__ import main
from benchmarks.differential.repairing import Repair, Repairs
from benchmarks.differential.trial import Trial, trial
from devicelint.fixes import Fixed
from devicelint.text.source import SourceFile
from tests.benchmarks.differential_programs import CHOSEN, program

MOVED = program(
    "import torch", CHOSEN, "x = torch.ones(3, requires_grad=True)", "x.sum().backward()"
)
RAISES = program("import torch", "x = torch.ones(3, device='cuda')", "x + torch.ones(3)")


@pytest.fixture(scope="module")
def one() -> Iterator[Trial]:
    with trial() as made:
        yield made


def repair(one: Trial, before: str, after: str) -> Repair:
    first, last = one.ran([replace(MOVED, text=before), replace(MOVED, text=after)])
    sources = SourceFile.from_text(before), SourceFile.from_text(after)
    return Repair(first, last, Fixed(*sources))


def test_a_fix_that_makes_a_run_fail_harms(one: Trial) -> None:
    made = repair(one, MOVED.text, MOVED.text + "x.cuda()\n")
    assert made.harms == (
        "with 0 GPUs: ran through before, and now: line 5: Torch not compiled with CUDA enabled",
    )


def test_so_does_one_that_changes_a_loss_on_the_cpu(one: Trial) -> None:
    made = repair(one, MOVED.text, MOVED.text.replace("x.sum()", "x.prod()"))
    assert made.harms == ("with 0 GPUs: another loss than before",)


def test_what_raises_before_and_after_a_fix_still_raises(one: Trial) -> None:
    repairs = Repairs()
    repairs.add(repair(one, RAISES.text, RAISES.text))
    repairs.add(repair(one, MOVED.text, MOVED.text))
    counts = (repairs.changed, repairs.raised, repairs.clean, repairs.still_raising, repairs.harmed)
    assert counts == (2, 1, 1, 1, 0)


@pytest.mark.parametrize("mode", ["fix", "adopt"])
def test_the_last_line_says_it_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    figures = tmp_path / "figures.json"
    assert main(["--fix", mode, "--seed", "2", "--programs", "6", "--json", str(figures)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    found = json.loads(figures.read_text())
    assert found["mode"] == mode
    assert last == (
        f"harmed {found['harmed']} of {found['changed']} changed, "
        f"still raising {found['still_raising']} of {found['clean']} that check clean after fixes, "
        f"{found['raised']} raised before"
    )
