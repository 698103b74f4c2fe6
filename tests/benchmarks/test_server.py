"""`benchmarks/server.py` types in scripts, and tells how long the answers take."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.server import main, rows, scripts
from benchmarks.server_session import CHANGES, OPENED, START, Time, Timing, changes

SCRIPT = """\
import torch

x = torch.ones(
    3,
)


def f(
    a,
):
    y = a + 1
    z = "é"
    if y:
        y = 2  # two
    return y


print(f(x))
"""


def test_the_files_are_those_about_torch_that_come_nearest_to_500_lines(tmp_path):
    for name, lines in {"a": 100, "b": 490, "c": 505, "d": 900, "e": 1100}.items():
        (tmp_path / f"{name}.py").write_text("import torch\n" + "x = 1\n" * lines)
    (tmp_path / "other.py").write_text("x = 1\n" * 500)
    assert [path.stem for path in scripts([tmp_path], 50)] == ["c", "b", "a", "d"]


def test_each_folder_has_its_turn(tmp_path):
    for folder, names in {"one": "ab", "two": "c"}.items():
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.py").write_text("import torch\n")
    folders = [tmp_path / "one", tmp_path / "two"]
    assert [path.stem for path in scripts(folders, 50)] == ["a", "c", "b"]
    assert [path.stem for path in scripts(folders, 2)] == ["a", "c"]


def test_it_types_at_the_ends_of_statements_in_functions():
    found = changes(SCRIPT)
    assert {kind: len(some) for kind, some in found.items()} == {
        "comment": CHANGES,
        "code": CHANGES,
        "new line": CHANGES,
    }
    for kind in ("comment", "code"):
        assert {(one.at.line, one.at.character) for one in found[kind]} == {(10, 13), (14, 12)}


def test_what_has_no_function_has_new_lines_only():
    assert {kind: len(some) for kind, some in changes("import torch\n").items()} == {
        "comment": 0,
        "code": 0,
        "new line": CHANGES,
    }


def timing(*times: float) -> Timing:
    return Timing(Path("train.py"), 500, {START: [Time(9.0, one) for one in times]})


def test_a_table_has_medians_and_what_one_in_twenty_exceeds():
    now, before = [timing(0.01 * one) for one in range(101)], [timing(2.0)]
    head, row = rows(now, [])
    assert head.split() == ["milliseconds", "of", "the", "processor", "median", "95", "%"]
    assert row.split() == ["start", "500", "950"]
    _, row = rows(now, before)
    assert row.split() == ["start", "500", "950", "2000", "2000", "4.0,", "2.1"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the processor time")
def test_each_step_has_its_row_and_the_promises_are_told(tmp_path, capsys):
    (tmp_path / "train.py").write_text(SCRIPT)
    here = str(Path(__file__).parents[2])
    written = tmp_path / "times.json"
    command = [str(tmp_path), "--against", here, "--json", str(written)]
    assert main(command) in (0, 1)
    first, _, *table = capsys.readouterr().out.splitlines()
    assert first == "1 files of 19 to 19 lines"
    assert [row[:18].rstrip() for row in table[:7]] == [
        START,
        OPENED,
        "all findings",
        "after a comment",
        "after code",
        "after a new line",
        "hints",
    ]
    assert all("at most" in row for row in table[7:])
    assert written.read_text().startswith("[")


def test_a_folder_without_scripts_is_told_of(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{tmp_path}: holds no script about torch\n"
