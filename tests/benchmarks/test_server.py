"""`benchmarks/server.py` types in scripts, and tells how long the answers take."""

from __future__ import annotations

from benchmarks.server import CHANGES, main, scripts, typed

SCRIPT = "import torch\n\nx = torch.ones(\n    3,\n)\nif True:\n    y = x + 1\nprint(y)\n"


def test_the_scripts_are_those_about_torch_that_come_nearest_to_500_lines(tmp_path):
    for name, lines in {"a": 100, "b": 490, "c": 505, "d": 900}.items():
        (tmp_path / f"{name}.py").write_text("import torch\n" + "x = 1\n" * lines)
    (tmp_path / "other.py").write_text("x = 1\n" * 500)
    assert [path.stem for path in scripts(tmp_path)] == ["c", "b", "a", "d"]


def test_it_types_at_the_ends_of_lines_of_code():
    places = {(place.line, place.character) for place in typed(SCRIPT)}
    assert len(list(typed(SCRIPT))) == CHANGES
    assert (6, 13) in places
    assert not places & {(2, 15), (3, 6), (5, 8)}


def test_each_script_has_its_row_and_the_promise_is_told(tmp_path, capsys):
    (tmp_path / "train.py").write_text(SCRIPT)
    assert main([str(tmp_path)]) in (0, 1)
    head, row, promise = capsys.readouterr().out.splitlines()
    assert head.split()[-5:] == ["lines", "open", "findings", "slowest", "hints"]
    assert row.split()[:2] == ["train.py", "9"]
    assert "the findings of a script of 500 lines are there after 100 ms" in promise


def test_a_folder_without_scripts_is_told_of(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{tmp_path}: holds no script about torch\n"
