"""A short run of the fuzzer: malformed inputs make no front end of devicelint fall over."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.fuzz.cases import Case, Outcome, cli_case, faults, notebook_case

ROOT = Path(__file__).parents[2]
FILES = {"train.py": b"x = 1\n", "book.ipynb": b"{}"}


@pytest.mark.parametrize(("front_end", "count"), [("cli", 120), ("notebook", 80), ("server", 40)])
def test_nothing_falls_over(front_end: str, count: int) -> None:
    if front_end == "server":
        pytest.importorskip("pygls", reason="the language server needs pygls")
    command = [
        sys.executable,
        "-m",
        "benchmarks.fuzz",
        "--front-end",
        front_end,
        "--count",
        str(count),
    ]
    told = subprocess.run(
        command, cwd=ROOT, text=True, capture_output=True, check=False, timeout=300
    )
    lines = told.stdout.splitlines()
    assert lines[-1].endswith(" 0 faults"), told.stdout + told.stderr
    assert told.returncode == 0
    assert len(lines) == 1


@pytest.mark.parametrize("make", [cli_case, notebook_case])
def test_a_number_is_always_the_same_case(make) -> None:
    state = random.getstate()
    assert make(7) == make(7)
    assert make(7) != make(8)
    assert random.getstate() == state


class TestFaults:
    """What the fuzzer would say, so that its silence means something."""

    def told(self, *words: str, status: object = 0, error: str = "", **files: bytes) -> list[str]:
        after = {**FILES, **{name.replace("_", "."): data for name, data in files.items()}}
        kept = {name: data for name, data in after.items() if data != b"gone"}
        return faults(Case(list(words), FILES), Outcome(status, "", error, kept))

    def test_silence(self) -> None:
        assert self.told("check") == []
        assert self.told("check", "--fix", train_py=b"y = 2\n") == []

    def test_a_crash(self) -> None:
        assert self.told("check", status=-11) == ["exit status -11"]
        assert self.told("check", status=3) == ["exit status 3"]
        told = "Traceback (most recent call last):\n"
        assert self.told("check", error=told) == [told.strip()]
        line = "train.py:1:1: DEV900 internal-error: oh"
        assert self.told("check", error=line) == [line]

    def test_files(self) -> None:
        assert self.told("check", train_py=b"y = 2\n") == ["train.py was changed"]
        half = self.told("check", "--fix", train_py=b"y = (\n")
        assert half == ["train.py is no longer what it was"]
        half = self.told("check", "--fix", book_ipynb=b"{")
        assert half == ["book.ipynb is no longer what it was"]
        assert self.told("check", "--fix", train_py=b"gone") == ["train.py is gone"]
        assert self.told("check", train_py_tmp=b"") == ["train.py.tmp was left behind"]
