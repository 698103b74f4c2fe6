"""`benchmarks/speed.py` times the same work for all, and says what it promises of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import large_tree
from benchmarks.speed import acceptances
from benchmarks.timed_tools import BenchmarkError, Measurement, Sample, Tool


def folder(path: Path, *names: str) -> Path:
    for name in names:
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{name}\n")
    return path


def test_whole_folders_are_taken_the_smallest_first_and_again(tmp_path, monkeypatch):
    monkeypatch.setattr(large_tree, "FILES", 6)
    many = folder(tmp_path / "many", "a.py", "b/c.py", "d.py", "not.txt")
    few = folder(tmp_path / "few", "e.py")
    made = large_tree.large_tree([many, few], tmp_path / "made")
    names = sorted(path.relative_to(made).as_posix() for path in made.rglob("*.py"))
    assert names == [
        "few1/e.py",
        "few2/e.py",
        "many1/a.py",
        "many1/b/c.py",
        "many1/d.py",
        "many2/a.py",
    ]
    assert (made / "many2" / "pyproject.toml").exists()


def test_folders_without_python_give_no_tree(tmp_path):
    made = large_tree.large_tree([folder(tmp_path / "empty", "a.txt")], tmp_path / "made")
    assert not list(made.rglob("*.py"))


def test_a_tool_that_did_no_work_is_not_timed():
    with pytest.raises(BenchmarkError, match="silent"):
        Tool("silent", ("true",), r"(\d+) files").run()


def test_what_is_promised():
    seconds = {
        "devicelint": 1.0,
        "parse": 0.5,
        "torchfix": 10.0,
        "preflight": 9.9,
        "warm": 0.1,
        "one file": 0.5,
        "import": 0.3,
        "start": 0.01,
        "version": 0.06,
        "large": 17.0,
        "large in two": 10.0,
        "large warm": 0.42,
    }
    measured = {}
    for key, wall in seconds.items():
        measured[key] = Measurement(Tool(key, ()), [Sample(wall, wall, 1)])
    told = [str(each).partition(":")[0] for each in acceptances(measured)]
    assert told == [
        "pass  devicelint / parse alone <= 3",
        "pass  TorchFix / devicelint >= 10",
        "FAIL  torch-preflight / devicelint >= 10",
        "pass  TorchFix / remembered >= 100",
        "FAIL  torch-preflight / remembered >= 100",
        "pass  cold start extra in s <= 0.25",
        "pass  --version over start in s <= 0.06",
        "FAIL  1,000 over start in s <= 0.4",
        "pass  1,000 files, one process / two >= 1.7",
    ]
