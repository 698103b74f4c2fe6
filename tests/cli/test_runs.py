"""How a run gets done: in processes, again and again, watched, timed, and cleaned up after."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from devicelint.cache import DEFAULT_NAME
from devicelint.cli import main
from devicelint.cli.run import jobs, processes, watch

WRONG = """\
import torch
from shared import make
assert torch.cuda.is_available()
model = torch.nn.Linear(3, 3).to("cuda:{0}")
model(make())
"""
SHARED = "import torch\n\n\ndef make():\n    return torch.ones(3)\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def tree(monkeypatch):
    """A few files in pieces of one, with all that a run has to tell of files."""
    monkeypatch.setattr(processes, "_SMALLEST_PIECE", 1)
    monkeypatch.setattr(jobs, "_WORTH_ONE_OF_SEVERAL", 1)
    write("shared.py", SHARED)
    for number in range(4):
        write(f"wrong{number}.py", WRONG.format(number))
    write("broken.py", "import torch\nx = (\n")
    Path("latin.py").write_bytes(b"import torch  # \xff\n")
    write("book.ipynb", '{"cells": 3}')


def told(capfd, *words: str) -> tuple[int, str, str]:
    status = main([*words])
    out, error = capfd.readouterr()
    return status, out, error


def test_processes_find_and_tell_what_one_does(tree, capfd):
    alone = told(capfd, "--no-cache", "-j1", ".")
    assert alone[1].count("DEV101") == 4
    assert "broken.py:2:5" in alone[2]
    assert told(capfd, "-j3", ".") == alone
    assert told(capfd, ".") == alone


def test_this_process_is_one_of_them(tree, capfd, monkeypatch):
    begun: list[str] = []
    learned: set[str] = set()
    early: set[str] = set()
    real = processes.Processes

    def begin(jobs, files, learn, check_ahead):
        def learn_it(answer):
            learned.update(answer.found)
            learn(answer)

        def check_it(path):
            early.add(path)
            check_ahead(path)

        begun.extend(path for path, *_ in files)
        return real(jobs, files, learn_it, check_it)

    monkeypatch.setattr(processes, "Processes", begin)
    alone = told(capfd, "--no-cache", "-j1", ".")
    assert not begun
    assert told(capfd, "--no-cache", "-j2", ".") == alone
    assert begun[0] not in learned | early
    assert not learned & early


def test_fixes_are_the_same_after_processes_have_looked(tree, capfd):
    alone = told(capfd, "--no-cache", "-j1", "--diff", ".")
    assert alone[1].count("+++") == 4
    assert told(capfd, "--no-cache", "-j2", "--diff", ".") == alone
    assert told(capfd, "--no-cache", "-j2", "--fix", ".")[0] == 2
    assert "DEV101" not in told(capfd, "--no-cache", "-j1", ".")[1]


def test_files_of_a_process_that_dies_are_checked_here(tree, capfd, monkeypatch):
    alone = told(capfd, "--no-cache", "-j1", ".")
    monkeypatch.setattr(processes, "_BEGIN", "import os, sys; {}; os._exit(3)")
    status, out, error = told(capfd, "--no-cache", "-j2", ".")
    assert (status, out) == alone[:2]
    assert "devicelint: a process has died; its files are checked in this one\n" in error


def test_a_process_imports_nothing_from_the_folder_that_is_checked(tree, capfd):
    for name in ("pickle", "signal", "re", "libcst"):
        write(f"{name}.py", "raise SystemExit('imported')\n")
    _, out, error = told(capfd, "--no-cache", "-j2", ".")
    assert out.count("DEV101") == 4
    assert "died" not in error
    assert "imported" not in error


def test_an_interrupted_run_leaves_no_process(tree):
    for number in range(4, 60):
        write(f"wrong{number}.py", WRONG.format(number) * 20)
    command = [sys.executable, "-m", "devicelint", "-j2", "--no-cache", "."]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert running.stdout is not None
    assert "DEV101" in running.stdout.readline()
    os.killpg(running.pid, signal.SIGINT)
    _, error = running.communicate(timeout=60)
    assert running.returncode == 130
    assert error.splitlines()[-1] == "devicelint: interrupted"
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)


@pytest.mark.parametrize(
    ("asked", "size", "number"),
    [(0, 200_000, 0), (0, 600_000, 2), (0, 10**9, 3), (1, 10**9, 1), (7, 1, 0), (7, 180_000, 3)],
)
def test_as_many_processes_as_are_worth_it(monkeypatch, asked, size, number):
    monkeypatch.setattr(jobs, "_processors", lambda: 3)
    assert jobs.number(asked, size) == number


@pytest.mark.parametrize("word", ["0", "-1", "two", "²", ""])
def test_a_number_of_processes_is_a_number(capfd, word):
    status, _, error = told(capfd, f"-j{word}" if word else "--jobs=", ".")
    assert status == 2
    assert error.startswith("devicelint: argument -j/--jobs: ")


def test_watching_checks_again_after_a_change(capfd, monkeypatch):
    write("pkg/a.py", WRONG.format(0))
    write("shared.py", SHARED)
    steps = iter(
        [
            lambda: write("shared.py", SHARED.replace("(3)", '(3, device="cuda:0")')),
            lambda: write("pyproject.toml", "[tool.devicelint]\nselect = 3\n"),
            lambda: write("pyproject.toml", "[tool.devicelint]\n"),
        ]
    )

    def sleep(_seconds: float) -> None:
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr(watch, "sleep", sleep)
    assert (
        main(["--watch", "--ignore", "DEV401,DEV409", "--output-format", "concise", "pkg", "."])
        == 0
    )
    out, error = capfd.readouterr()
    assert out.count("DEV101") == 1
    lines = [line for line in error.splitlines() if not line.startswith("Watching")]
    assert [line.partition(":")[0] for line in lines] == [
        "Found 1 error; 1 fixable with --fix",
        "No device mistakes found in 2 files",
        str(Path("pyproject.toml").absolute()),
        "No device mistakes found in 2 files",
    ]


@pytest.mark.parametrize(
    "words",
    [("-",), ("--profile", "."), ("--fix", "--interactive", "a.py"), ("--prove", "--fix", "a.py")],
)
def test_what_cannot_be_watched_is_refused(capfd, words):
    status, _, error = told(capfd, "--watch", *words)
    assert status == 2
    assert "--watch" in error


def test_a_profile_tells_parts_and_rules(tree, capfd):
    status, out, error = told(capfd, "--profile", "-q", "shared.py", "wrong1.py")
    assert status == 1
    assert "DEV101" in out
    first, *lines = error.splitlines()
    assert first.endswith(" s for 2 files")
    names = [line[:40].strip() for line in lines]
    assert names[:3] == ["import", "parse", "walk"] or names[:2] == ["parse", "walk"]
    assert "DEV101 module-input-elsewhere" in names
    assert names[-1] == "all else"
    assert not Path(DEFAULT_NAME).exists()


def test_clean_removes_caches_and_nothing_else(tree, capfd):
    told(capfd, "wrong1.py")
    write("deep/folder/a.py", "import torch\n")
    told(capfd, "--cache-dir", "deep/.devicelint_cache", "deep")
    write("deep/.devicelint_cache/mine.txt", "of somebody else")
    status, _, error = told(capfd, "clean")
    assert status == 0
    assert error.splitlines() == ["removed .devicelint_cache", "removed deep/.devicelint_cache"]
    assert not Path(DEFAULT_NAME).exists()
    assert [path.name for path in Path("deep/.devicelint_cache").iterdir()] == ["mine.txt"]
    assert told(capfd, "clean") == (0, "", "no cache found\n")
    assert told(capfd, "clean", "absent") == (2, "", "absent:1:1: is no folder\n")
    assert told(capfd, "clean", "--cache-dir", ".") == (0, "", "no cache found\n")
    assert Path("wrong1.py").exists()
