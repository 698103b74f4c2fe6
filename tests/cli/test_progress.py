"""What a long run is doing and for how long, on a pseudo terminal."""

from __future__ import annotations

import re
import subprocess
import sys
from argparse import Namespace
from itertools import count
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from devicelint.cli import main, terminal
from devicelint.cli.run import progress_line, proof
from devicelint.cli.run.progress import Progress, is_wanted
from devicelint.cli.run.progress_line import ProgressLine
from tests.screens import Screen, screen_of

SCRIPT = """\
import torch
from model import make
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(3).to(device)
print(x + make())
"""
MODEL = "import torch\n\n\ndef make():\n    return torch.zeros(3)\n"
LINE_GONE = "\x1b[2K"


@pytest.fixture
def screen(monkeypatch, tmp_path) -> Screen:
    monkeypatch.chdir(tmp_path)
    return screen_of(monkeypatch)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A script with what it imports, and a clock by which every step takes long."""
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "model.py").write_text(MODEL)
    seconds = count(0, 7)
    monkeypatch.setattr(ProgressLine.__init__, "__defaults__", (lambda: float(next(seconds)),))


def test_a_line_is_for_what_takes_long_and_goes_when_anything_is_printed(screen):
    screen.show()
    now = 0.0
    line = ProgressLine(lambda: now)
    line.begin("looking for files")
    line.say("checking 1 of 1,040 files", "early.py")
    now = 1.5
    line.say("checking 2 of 1,040 files", "b.py")
    now = 1.6
    line.say("checking 3 of 1,040 files", "soon.py")
    now = 12.4
    line.say("checking 120 of 1,040 files", "c\x1b[31m.py")
    line.hide()
    line.hide()
    now = 12.6
    line.say("checking 121 of 1,040 files", "after_output.py")
    now = 14.0
    line.look()
    line.hide()
    shown = [part for part in re.split(r"[\r\n]+", screen.text()) if part != LINE_GONE]
    texts = [text.replace(LINE_GONE, "").replace("\x1b[1A", "") for text in shown]
    assert [text for text in dict.fromkeys(texts) if text] == [
        "checking 2 of 1,040 files, 2 s: b.py",
        "checking 120 of 1,040 files, 12 s: c\\x1b[31m.py",
        "checking 121 of 1,040 files, 14 s: after_output.py",
    ]
    assert shown[-1].endswith(LINE_GONE)


def test_a_step_measures_its_own_time(screen):
    screen.show()
    now = 0.0
    line = ProgressLine(lambda: now)
    now = 30.0
    line.begin("running train.py")
    now = 33.0
    line.look()
    line.hide()
    assert "running train.py, 3 s" in screen.text()


def test_a_line_is_looked_after_while_a_step_takes_long(screen, monkeypatch):
    monkeypatch.setattr(progress_line, "_BETWEEN_LOOKS", 0.001)
    seen = Event()
    line = ProgressLine(lambda: 0.0)
    monkeypatch.setattr(line, "look", seen.set)
    with line.shown("drawing train.py"):
        seen.clear()
        assert seen.wait(60)


def test_nothing_is_shown_once_it_is_over(screen, monkeypatch):
    screen.show()
    monkeypatch.setattr(progress_line, "_BETWEEN_LOOKS", 3600)
    seconds = count(0, 9)
    line = ProgressLine(lambda: float(next(seconds)))
    with line.shown("drawing train.py"):
        terminal.say("printed")
    line.look()
    line.say("too late")
    text = screen.text()
    assert "drawing train.py, " in text
    assert text.endswith(f"{LINE_GONE}printed\r\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--no-cache", "."], ["checking 1 of 2 files", "checking 2 of 2 files"]),
        (["--no-cache", "train.py"], ["checking train.py"]),
        (["--fix", "."], ["fixing 1 of 2 files"]),
        (["--diff", "train.py"], ["fixing train.py"]),
        (["adopt", "--check", "train.py"], ["adopting train.py"]),
        (["adopt", "--check", "."], ["following the imports of 1 of 2 files",
                                     "adopting train.py and what it imports"]),
        (["adopt", "--check", ".", "--entry", "train.py"],
         ["adopting train.py and what it imports"]),
        (["map", "train.py", "--html", "out.html"], ["drawing train.py"]),
        (["why", "train.py:5"], ["following devices to train.py:5"]),
        (["why", "--verdict", "train.py:5"], ["following devices to train.py:5"]),
        (["trace", "train.py"], ["tracing train.py"]),
    ],
)  # fmt: skip
def test_long_commands_say_what_they_do(screen, program, capsys, words, told):
    screen.show()
    main(words)
    text = screen.text()
    for doing in told:
        assert re.search(rf"{re.escape(doing)}, \d+ s", text)
    *_, last = re.split(r"files, \d+ s|\w, \d+ s", text)
    assert LINE_GONE in last


@pytest.mark.parametrize(
    "words", [["-q", "."], ["-v", "."], ["--fix", "--interactive", "train.py"]]
)
def test_who_wants_no_line_gets_none(screen, program, capsys, monkeypatch, words):
    screen.show()
    monkeypatch.setattr("builtins.input", lambda *_: "n")
    main(["--no-cache", *words])
    assert not re.search(r"\d s\b", screen.text())


def test_a_proof_says_what_it_runs(monkeypatch):
    document = {"unreached_lines": [], "problems": [], "steps": 3, "after": [], "before": None}
    monkeypatch.setattr(proof, "_run", lambda *_: dict(document))
    monkeypatch.setattr(proof, "unreached", lambda _: "")
    source = SimpleNamespace(path="train.py", document=None)
    script: Any = SimpleNamespace(before=source, after=source)
    said: list[str] = []
    proof.run(script, [script], Namespace(prove_steps=None), said.append)
    assert said == ["running train.py for 3 steps on each machine"]


@pytest.mark.parametrize(
    ("environment", "options", "wanted"),
    [
        ({"TERM": "xterm"}, None, True),
        ({}, Namespace(quiet=False, verbose=False, interactive=False), True),
        ({"TERM": "dumb"}, None, False),
        ({"CI": "true"}, None, False),
        ({}, Namespace(quiet=True), False),
        ({}, Namespace(verbose=True), False),
        ({}, Namespace(interactive=True), False),
    ],
)
def test_a_line_is_for_somebody_who_looks(screen, environment, options, wanted):
    screen.show()
    assert is_wanted(options, environment) is wanted


def test_a_pipe_gets_no_line(program, monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)
    assert not is_wanted(None, {})
    main(["--no-cache", "."])
    assert not re.search(r"\d s\b", capfd.readouterr().err)


def test_a_short_check_does_not_pay_for_it():
    modules = "threading", "rich", "devicelint.cli.run.progress_line"
    code = (
        "import sys; from devicelint.cli.run.progress import Progress\n"
        "with Progress('checking', wanted=False).shown() as p: pass\n"
        f"print([name for name in {modules!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_one_file_is_named_and_several_are_counted(screen, program):
    screen.show()
    progress = Progress("checking", wanted=True)
    with progress.shown():
        progress.at(0, 1, "train.py")
        progress.at(119, 1040, "model.py")
    text = screen.text()
    assert re.search(r"looking for files, \d+ s", text)
    assert re.search(r"checking train\.py, \d+ s", text)
    assert re.search(r"checking 120 of 1,040 files, \d+ s: model\.py", text)
