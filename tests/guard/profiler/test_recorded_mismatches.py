"""What a guard finds is in the recording of the run, and in the report of it."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard.profiler.recording.recording import read
from runtime_guard.profiler.report.command import report_main

REPOSITORY = str(Path(__file__).parents[3])
TRAIN = """\
import torch
from torch import nn

model = nn.Linear(2, 2, device="meta")
for _ in range(3):
    model(torch.ones(1, 2))
"""


def call(model, times=1):
    for _ in range(times):
        model(torch.ones(1, 2))


@pytest.fixture
def model():
    return nn.Linear(2, 2).to("meta")


@pytest.mark.filterwarnings("ignore::runtime_guard.DeviceMismatchWarning")
@pytest.mark.parametrize("action", ["warn", "move"])
def test_a_mismatch_is_put_down_once_however_often_it_is_met(model, action):
    guard = runtime_guard.guard(model, action=action, meta=True)
    with runtime_guard.record() as recorder, guard:
        for _ in range(3):
            with pytest.raises(RuntimeError) if action == "warn" else guard:
                call(model)
    (found,) = recorder.recording().mismatches
    assert (found["module_class"], found["failed_at"]["function"]) == ("Linear", "call")


def test_one_that_is_raised_is_put_down_before(model):
    with runtime_guard.record() as recorder, runtime_guard.guard(model, meta=True):
        with pytest.raises(runtime_guard.DeviceMismatchError) as caught:
            call(model)
        (found,) = recorder.recording().mismatches
    assert caught.value.mismatches[0].failed_at
    assert found["failed_at"]["line"] == caught.value.mismatches[0].failed_at.line
    assert found["failed_at"]["file"] == __file__, "whole, as transfers have it"


@pytest.mark.filterwarnings("ignore::runtime_guard.DeviceMismatchWarning")
def test_a_recorder_that_comes_later_is_told_as_well_and_one_that_left_is_not(model):
    with runtime_guard.guard(model, action="move", meta=True) as guard:
        call(model)
        recorders = [runtime_guard.record(), runtime_guard.record()]
        recorders[0].remove()
        for _ in range(2):
            call(model)
        recorders[1].remove()
        assert len(guard.mismatches) == 1
    assert [len(each.recording().mismatches) for each in recorders] == [0, 1]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    record = ["--check-meta", "--record", "run.jsonl"]
    return subprocess.run(
        [sys.executable, "-m", "runtime_guard", *record, *words],
        cwd=folder,
        env={"PYTHONPATH": REPOSITORY},
        capture_output=True,
        text=True,
        check=False,
    )


def reported(folder: Path, capsys) -> str:
    assert report_main([str(folder / "run.jsonl")]) == 0
    return str(capsys.readouterr().out)


def test_a_script_whose_mistake_is_moved(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN.replace("model(torch", "# found\n    model(torch"))
    done = run(tmp_path, "--action", "move", "train.py", "--epochs", "3")
    assert done.returncode == 0, done.stderr
    text = reported(tmp_path, capsys)
    assert "train.py --epochs 3 (" in text
    assert "train.py:7" in text
    assert "Linear got input (float32[1, 2]) on cpu" in text
    (recording,) = read(tmp_path / "run.jsonl")
    assert len(recording.mismatches) == 1
    assert recording.complete


def test_a_module_of_a_package_that_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "package").mkdir()
    # torch is imported, and the recording begins, before the arguments name the module.
    (tmp_path / "package" / "__init__.py").write_text("import torch\n")
    (tmp_path / "package" / "train.py").write_text(TRAIN)
    done = run(tmp_path, "-m", "package.train", "--lr", "0.1")
    assert done.returncode == 1
    assert "DeviceMismatchError" in done.stderr
    text = reported(tmp_path, capsys)
    assert text.startswith("package/train.py --lr 0.1 (")
    assert "package/train.py:6" in text
    assert "No copies between devices and no synchronisations; 1 mismatch\n" in text
    assert " 0.0 " not in text
