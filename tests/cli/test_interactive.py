"""`--fix --interactive`: what is asked, and what each answer does to the files."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devicelint.cli import main

SCRIPT = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
first = torch.zeros(3, 4)
second = torch.ones(3, 4)
model(first)
model(second)
"""

MADE = {
    "first": SCRIPT.replace("torch.zeros(3, 4)", "torch.zeros(3, 4, device=device)"),
    "second": SCRIPT.replace("torch.ones(3, 4)", "torch.ones(3, 4, device=device)"),
}

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command with these answers; returns its status, and what it said of the run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run_it(answers: str, *words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
        status = main(["--fix", "--interactive", "--ignore", "DEV4", *words])
        return status, capfd.readouterr().err

    return run_it


def written(name: str = "train.py") -> Path:
    path = Path(name)
    path.write_text(SCRIPT)
    return path


def test_each_fix_is_shown_with_its_difference(run: Run) -> None:
    path = written()
    status, said = run("n\ny\n", "train.py")
    assert status == 1
    assert path.read_text() == MADE["second"]
    assert said.count("Make this fix?") == 2
    assert "train.py:6:9: DEV103 created-on-cpu: `torch.zeros(3, 4)` is created" in said
    assert "-second = torch.ones(3, 4)\n+second = torch.ones(3, 4, device=device)\n" in said
    assert "train.py:6:9: not fixed DEV103: you declined its fix\n" in said


def test_all_asks_no_more_in_any_file(run: Run) -> None:
    paths = written("a.py"), written("b.py")
    status, said = run("all\n", ".")
    assert status == 0
    assert said.count("Make this fix?") == 1
    assert "Fixed 4 findings in 2 files\n" in said
    assert all("device=device)\nsecond" in path.read_text() for path in paths)


def test_quit_keeps_what_was_made_and_leaves_the_other_files(run: Run) -> None:
    first, second = written("a.py"), written("b.py")
    status, said = run("y\nq\n", ".")
    assert status == 1
    assert first.read_text() == MADE["first"]
    assert second.read_text() == SCRIPT
    assert said.count("you quit before it") == 3


def test_where_nobody_answers_nothing_is_made(run: Run) -> None:
    path = written()
    assert run("", "train.py")[0] == 1
    assert path.read_text() == SCRIPT


def test_an_answer_that_makes_no_sense_is_asked_for_again(run: Run) -> None:
    path = written()
    _, said = run("perhaps\n\nY\nNo\n", "train.py")
    assert said.count("y makes it, n leaves it") == 2
    assert path.read_text() == MADE["first"]


def test_an_interrupted_file_stays_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written()
    answers = iter(["y\n"])

    def answer(self: io.StringIO) -> str:
        for said in answers:
            return said
        raise KeyboardInterrupt

    monkeypatch.setattr(io, "StringIO", type("Answers", (io.StringIO,), {"readline": answer}))
    assert run("", "train.py")[0] == 130
    assert path.read_text() == SCRIPT


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--interactive", "a.py"], "give it with --fix alone"),
        (["--interactive", "--fix", "--diff", "a.py"], "give it with --fix alone"),
        (["--interactive", "--fix", "-"], "give a path"),
    ],
)
def test_options_that_leave_nothing_to_ask_are_refused(
    words: list[str], why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert why in capfd.readouterr().err
