"""`benchmarks/linter_speed.py` lays out so many lines, and counts what a check of them costs."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks.linter_speed import Cost, Row, laid_out, main, promises

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no wait4")


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "train.py").write_text("import torch\nfrom helper import x\nprint(x)\n")
    (folder / "helper.py").write_text("x = 1\n" * 5)
    (folder / "other.txt").write_text("x\n" * 100)
    return folder


def test_files_are_copied_until_there_are_enough_lines(corpus, tmp_path):
    assert laid_out(corpus, tmp_path / "out", 12) == (13, 3, 2)
    files = sorted(
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.py")
    )
    assert files == ["copy1/helper.py", "copy1/inner/train.py", "copy2/helper.py"]


def test_no_two_copies_of_a_file_are_alike(corpus, tmp_path):
    laid_out(corpus, tmp_path / "out", 16)
    one, other = (
        (tmp_path / "out" / copy / "helper.py").read_text() for copy in ("copy1", "copy2")
    )
    assert one == "x = 1\n" * 5 + "# 1\n"
    assert other == "x = 1\n" * 5 + "# 2\n"


def test_what_is_parsed_is_counted_and_costs_something(corpus, tmp_path, capsys):
    data = tmp_path / "figures.json"
    assert main([str(corpus), "--lines", "8", "--json", str(data)]) in (0, 1)
    row = json.loads(data.read_text())[0]
    assert (row["lines"], row["files"], row["copies"]) == (8, 2, 1)
    assert row["parsed"] >= 1
    assert row["check"]["seconds"] > 0
    assert row["check"]["mebibytes"] > 10
    assert "check / parse at 8 lines" in capsys.readouterr().out


def test_a_folder_without_python_is_told(tmp_path, capsys):
    assert main([str(tmp_path), "--lines", "8"]) == 2
    assert capsys.readouterr().err == f"{tmp_path} holds no Python\n"


@pytest.mark.parametrize(
    ("check", "memory", "kept"), [(1.8, 200, [True, True]), (1.9, 201, [False, False])]
)
def test_what_is_promised(check, memory, kept):
    row = Row(
        lines=100, files=1, copies=1, parsed=1, check=Cost(check, memory), parse=Cost(1.0, 50)
    )
    assert [holds for holds, _ in promises([row])] == kept
