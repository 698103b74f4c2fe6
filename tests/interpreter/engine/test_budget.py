"""A file that takes too much becomes one message, and the others are checked."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import devicelint
from devicelint.cli import main
from devicelint.flake8_plugin import Plugin
from devicelint.interpreter.engine import budget
from devicelint.interpreter.engine.budget import Limits
from devicelint.linter import lint
from devicelint.text.source import SourceFile
from devicelint.views import show
from devicelint.workspace.project import Project

WRONG = (
    "import torch\n\nassert torch.cuda.is_available()\n"
    'x = torch.zeros(3, device="cuda")\ny = x + torch.ones(3)\n'
)
RUNAWAY = WRONG + "z = 1\n" * 50
MESSAGE = "is not checked: it takes more than 40 steps"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fine.py").write_text(WRONG, encoding="utf-8")
    Path("runaway.py").write_text(RUNAWAY, encoding="utf-8")


@pytest.fixture
def limits(monkeypatch):
    def hold(**limits) -> None:
        monkeypatch.setattr(budget, "LIMITS", Limits(**limits))

    return hold


def codes(name: str, project: Project | None = None) -> list[str]:
    source = SourceFile.from_text(Path(name).read_text(encoding="utf-8"), name)
    return [finding.code for finding in lint.check(source, None, project).findings]


def test_too_many_steps_are_one_error_at_the_first_line(limits):
    assert codes("runaway.py") == ["DEV103"]
    limits(steps=40, steps_per_line=0)
    assert codes("fine.py") == ["DEV103"]
    with pytest.raises(devicelint.CheckError) as raised:
        devicelint.check(RUNAWAY, "runaway.py")
    assert str(raised.value) == f"runaway.py:1:1: {MESSAGE}"


def test_a_long_file_may_take_more_steps(limits):
    limits(steps=40, steps_per_line=2)
    assert codes("runaway.py") == ["DEV103"]


def test_too_much_time_is_one_error(limits):
    limits(seconds=-1)
    with pytest.raises(devicelint.CheckError, match="is not checked: it takes more than -1 sec"):
        devicelint.check(WRONG)


@pytest.mark.parametrize("word", ["why", "trace"])
def test_what_explains_a_file_gives_it_up_too(limits, word):
    limits(steps=1, steps_per_line=0)
    arguments = (3,) if word == "why" else ()
    with pytest.raises(devicelint.CheckError, match="is not checked"):
        getattr(show, word)(SourceFile.from_text(WRONG, "train.py"), *arguments)


def test_the_command_goes_on_with_the_other_files(limits, capsys):
    limits(steps=40, steps_per_line=0)
    assert main(["--output-format", "concise", "runaway.py", "fine.py"]) == 2
    out, error = capsys.readouterr()
    assert [line.split()[:2] for line in out.splitlines()] == [["fine.py:5:9:", "DEV103"]]
    assert f"runaway.py:1:1: {MESSAGE}" in error.splitlines()


def test_a_file_that_is_given_up_is_not_fixed(limits):
    limits(steps=40, steps_per_line=0)
    assert main(["--fix", "--unsafe-fixes", "-q", "runaway.py"]) == 2
    assert Path("runaway.py").read_text(encoding="utf-8") == RUNAWAY


def test_flake8_is_told_at_the_first_line(limits):
    limits(steps=40, steps_per_line=0)
    lines = RUNAWAY.splitlines(keepends=True)
    found = [violation[:3] for violation in Plugin(ast.parse(""), "runaway.py", lines).run()]
    assert found == [(1, 0, f"DEV900 {MESSAGE}")]


def test_a_file_that_is_imported_is_not_kept_half_walked(monkeypatch):
    Path("main.py").write_text(
        "import torch\nfrom shared import where\n\nx = torch.ones(3, device=where).numpy()\n",
        encoding="utf-8",
    )
    Path("shared.py").write_text('import torch\n\nwhere = "cuda"\n', encoding="utf-8")
    project, looks = Project(), iter([0.0, 0.0, 100.0])
    with monkeypatch.context() as slow:
        slow.setattr(budget, "process_time", lambda: next(looks))
        with pytest.raises(devicelint.CheckError, match="more than 60 seconds"):
            codes("main.py", project)
    assert codes("main.py", project) == codes("main.py", Project()) == ["DEV201"]
