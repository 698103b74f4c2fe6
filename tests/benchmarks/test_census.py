"""The census counts calls with a tensor that give something unknown."""

import json

import pytest

census = pytest.importorskip("benchmarks.census.__main__")

PROGRAM = """
import torch
import somewhere
from somewhere import stack_all


def own(x):
    return somewhere.unseen


x = torch.ones(3)
stack_all(x)
stack_all([x, x])
stack_all("no tensor")
torch.relu(x)
own(x)
x.nothing_of_the_kind()
"""


def test_calls_with_tensors_are_counted_by_name(tmp_path, capsys):
    folder = tmp_path / "tkipf+gae"
    folder.mkdir()
    (folder / "a.py").write_text(PROGRAM)
    (folder / "b.py").write_text("print('nothing of tensors')\n")
    found = tmp_path / "found.json"
    assert census.main([str(tmp_path), "--json", str(found)]) == 0
    rows = {name: calls for calls, _, name in json.loads(found.read_text())["unknown"]}
    assert rows["somewhere.stack_all"] == 2
    assert rows["torch.Tensor.nothing_of_the_kind"] == 1
    assert "torch.relu" not in rows
    assert "somewhere.stack_all" in capsys.readouterr().out


def test_the_measuring_half_is_not_looked_at(tmp_path):
    (tmp_path / "locuslab+TCN").mkdir()
    (tmp_path / "locuslab+TCN" / "a.py").write_text(PROGRAM)
    assert list(census._chosen(tmp_path, ())) == []
