"""`--fix`, where what fixes one file has to be written in another."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.cli import main

SCRIPT = """\
import torch
from torch import nn
from {helper} import make

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
x = make(3, device)
print(model(x))
"""
HELPER = """\
import torch


def make(n, device):
    return torch.zeros(n, 4)
"""
FIXED = HELPER.replace("4)", "4, device=device)")
FIX = ("check", "--fix", "--unsafe-fixes")


@pytest.fixture(params=["a_helper", "z_helper"])
def helper(request, tmp_path, monkeypatch):
    """A file that is read before the script that calls it, or after it."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT.format(helper=request.param), encoding="utf-8")
    path = Path(f"{request.param}.py")
    path.write_text(HELPER, encoding="utf-8")
    return path


def is_script_as_it_was(helper: Path) -> bool:
    return Path("train.py").read_text() == SCRIPT.format(helper=helper.stem)


def test_the_other_file_is_fixed(helper, capsys):
    assert main([*FIX, "."]) == 0
    assert helper.read_text() == FIXED
    assert is_script_as_it_was(helper)
    told = capsys.readouterr()
    assert "train.py:7:13: fixed DEV407: Use `device` there" in told.err
    assert "Fixed 1 finding in 1 file" in told.err
    assert main(["check", "."]) == 0


def test_what_a_baseline_knows_is_left_in_each_file(helper, capsys):
    known = "y = torch.ones(2)\ny.cuda()\nprint(y)\n"
    script = Path("train.py")
    script.write_text(known.join(("import torch\n", script.read_text())), encoding="utf-8")
    before = script.read_text()
    assert main(["check", "--write-baseline", "base.json", "--ignore", "DEV407", "."]) == 0
    assert main([*FIX, "--baseline", "base.json", "."]) == 0
    assert helper.read_text() == FIXED
    assert script.read_text() == before
    assert main([*FIX, "."]) == 0
    assert script.read_text() != before


def test_a_second_fix_changes_nothing(helper, capsys):
    main([*FIX, "."])
    capsys.readouterr()
    assert main([*FIX, "."]) == 0
    assert helper.read_text() == FIXED
    assert "No device mistakes found in 2 files" in capsys.readouterr().err


def test_the_difference_is_shown_once_and_not_written(helper, capfdbinary):
    assert main(["check", "--diff", "--unsafe-fixes", "."]) == 1
    assert helper.read_text() == HELPER
    shown = capfdbinary.readouterr().out.decode()
    assert shown.count("+    return torch.zeros(n, 4, device=device)") == 1
    assert shown.count("+++") == 1


def test_a_file_that_is_not_named_is_left(helper, capsys):
    main([*FIX, "train.py"])
    assert helper.read_text() == HELPER
    assert "model(x.to(device))" in Path("train.py").read_text()


def test_nothing_is_changed_where_the_other_file_is_read_only(helper, capsys):
    helper.chmod(0o444)
    assert main([*FIX, "."]) == 2
    assert helper.read_text() == HELPER
    assert is_script_as_it_was(helper)
    assert f"{helper}:1:1: is read-only" in capsys.readouterr().err
