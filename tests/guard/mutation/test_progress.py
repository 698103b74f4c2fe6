"""How far runs are, on a pseudo terminal."""

import re
from pathlib import Path

import pytest

from runtime_guard.mutation import command, progress, proof
from runtime_guard.mutation.mutation import Mutation
from runtime_guard.mutation.running import Job, Run
from runtime_guard.mutation.source import ScriptSource
from tests.screens import screen_of

PASSED = Run(0, "passed", 0, 3, ("cpu",), None, "", "", 1.0, frozenset())


@pytest.fixture
def screen(monkeypatch):
    return screen_of(monkeypatch)


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("print(1)\n")
    return "train.py"


def test_a_line_says_how_far_runs_are_and_for_how_long(screen):
    screen.show()
    now = 0.0
    with progress.shown("train.py", lambda: now) as said:
        said(0, 3)
        now = 12.0
        said(2, 3)
    text = screen.text()
    assert "running train.py, 0 of 3 runs done, 0 s" in text
    assert "running train.py, 2 of 3 runs done, 12 s" in text
    assert text.rpartition("runs done")[2].endswith("\x1b[2K")


def test_commands_show_it(screen, script, monkeypatch):
    monkeypatch.setattr(command, "mutate", _mutated)
    screen.show()
    assert command.proving_main("mutate", ["train.py"]) == 0
    assert re.search(r"running train\.py, 1 of 4 runs done, \d+ s", screen.text())


def _mutated(job, source, devices, *, jobs, progress):
    progress(1, 4)
    return Mutation(job, devices, PASSED, ())


def test_a_proof_counts_its_runs(script, monkeypatch):
    monkeypatch.setattr(proof, "run", lambda *_: PASSED)
    said = []
    source = ScriptSource.read(script)
    proof.prove(Job(script), [source], progress=lambda done, total: said.append((done, total)))
    assert said == [(done, 3) for done in range(4)]


def test_a_proof_shows_them(screen, script, monkeypatch):
    monkeypatch.setattr(proof, "run", lambda *_: PASSED)
    screen.show()
    command.proving_main("prove", ["--virtual", "train.py"])
    assert "running train.py, 3 of 3 runs done, " in screen.text()


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"CI": "true"}])
def test_nobody_looks(screen, environment):
    screen.show()
    assert progress.is_wanted({})
    assert not progress.is_wanted(environment)


def test_a_pipe_gets_no_line(capfd):
    with progress.shown("train.py") as said:
        said(1, 3)
    assert capfd.readouterr() == ("", "")
