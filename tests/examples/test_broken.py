"""The scripts of `examples/`: each has the mistake it is named for, and its fix trains."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from devicelint.config import Config
from devicelint.linter import lint
from devicelint.text.source import SourceFile

EXAMPLES = Path(__file__).parents[2] / "examples"
BROKEN = sorted((EXAMPLES / "broken").glob("*.py"))
FIXED = sorted((EXAMPLES / "fixed").glob("*.py"))

MISTAKES = {
    "class_weights": {"DEV102"},
    "cpu_batches": {"DEV101", "DEV102"},
    "cuda_checkpoint": {"DEV303"},
    "discarded_move": {"DEV104"},
    "hard_coded_cuda": {"DEV409"},
    "layers_in_a_list": {"DEV105"},
    "metric_accumulator": {"DEV103"},
    "numpy_without_cpu": {"DEV201"},
    "optimizer_moved": {"DEV301"},
    "state_created_in_forward": {"DEV103"},
    "validation_not_moved": {"DEV101", "DEV102"},
}
"""What devicelint finds in each broken script, all severities together."""


def read(path: Path) -> SourceFile:
    return SourceFile.from_bytes(path.read_bytes(), path.name)


def by_name(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def test_every_example_is_in_the_table_and_has_its_fixed_twin() -> None:
    assert {path.stem for path in BROKEN} == set(MISTAKES)
    assert {path.name for path in FIXED} == {path.name for path in BROKEN}


@by_name(BROKEN)
def test_a_broken_script_has_the_mistake_it_is_named_for(path: Path) -> None:
    findings = lint.check(read(path), Config()).findings
    assert {finding.code for finding in findings} == MISTAKES[path.stem]


CHANGES_RESULTS = {"layers_in_a_list"}
"""What its fix makes of it computes something else on the CPU as well."""


@by_name(BROKEN)
def test_the_fixed_script_is_what_the_fixes_make_of_the_broken_one(path: Path) -> None:
    """The safe ones, but where results change."""
    fixed = lint.fix(read(path), Config(unsafe_fixes=path.stem in CHANGES_RESULTS))
    assert fixed.rolled_back == ()
    assert fixed.after.to_bytes() == (EXAMPLES / "fixed" / path.name).read_bytes()


@by_name(FIXED)
def test_a_fixed_script_is_clean(path: Path) -> None:
    assert lint.check(read(path), Config()).findings == ()


@by_name(FIXED)
def test_a_fixed_script_reaches_the_accuracy_it_states(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert trained_accuracy(path, tmp_path) >= stated_accuracy(path)


def test_the_fixed_script_loads_a_checkpoint_saved_on_a_gpu(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    trained_accuracy(EXAMPLES / "fixed" / "cuda_checkpoint.py", tmp_path)
    say_saved_on_a_gpu(tmp_path / "digits.pt")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="deserialize object on a CUDA device"):
            torch.load(tmp_path / "digits.pt")
    fixed = EXAMPLES / "fixed" / "cuda_checkpoint.py"
    assert trained_accuracy(fixed, tmp_path) >= stated_accuracy(fixed)


def say_saved_on_a_gpu(checkpoint: Path) -> None:
    """Save the checkpoint again as a machine with a GPU does: its tensors tagged `cuda:0`."""
    import torch

    content = torch.load(checkpoint, map_location="cpu")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
        torch.save(content, checkpoint)


def stated_accuracy(path: Path) -> float:
    stated = re.search(r"an accuracy of (0\.\d+) or more", path.read_text(encoding="utf-8"))
    assert stated is not None, f"{path.name} does not state the accuracy that it reaches"
    return float(stated[1])


def trained_accuracy(script: Path, folder: Path) -> float:
    """Run the script in `folder` on the CPU, warnings being errors; the accuracy it prints."""
    completed = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    printed = re.search(r"^accuracy: (\d\.\d+)$", completed.stdout, re.MULTILINE)
    assert printed is not None, completed.stdout
    return float(printed[1])
