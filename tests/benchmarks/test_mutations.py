"""`benchmarks/mutations.py` takes moves out of scripts, and sees what devicelint makes of it."""

from __future__ import annotations

import json

import pytest

from benchmarks.mutations import main
from benchmarks.removed_moves import moves_to_remove, statement_at

COMMIT = "c" * 40
TRAIN = """import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 2).to(device)
criterion = nn.MSELoss().to(device)
x = torch.zeros(3, 4)
x = x.to(device)
y = torch.zeros(3, 2, device=device)
loss = criterion(net(x), y)
print(net(x).detach().cpu().numpy(), loss.cpu())
"""


@pytest.fixture
def folder(tmp_path):
    checkout = tmp_path / "trees" / "owner+name"
    checkout.mkdir(parents=True)
    checkout.with_name("owner+name.commit").write_text(COMMIT)
    (checkout / "train.py").write_text(TRAIN)
    (checkout / "unclean.py").write_text('import torch\ntorch.device("gpu")\n')
    return tmp_path / "trees"


def mutate(folder, *options):
    data = folder / "mutants.json"
    redundant = ("--redundant", str(folder.parent / "redundant"))
    status = main([str(folder), "--json", str(data), *redundant, *options])
    found = json.loads(data.read_text())
    return status, {(each["line"], each["move"]): each for each in found}


def redundant(folder, **changes):
    entry = {"file": "train.py", "lines": [6], "reason": "a loss without weights"} | changes
    lines = [f'commit = "{COMMIT}"\n\n[[redundant]]']
    lines += [f"{name} = {json.dumps(value)}" for name, value in entry.items()]
    (folder.parent / "redundant").mkdir()
    (folder.parent / "redundant" / "owner+name.toml").write_text("\n".join(lines) + "\n")


def test_each_move_of_a_clean_script_is_taken_out(folder):
    _, mutants = mutate(folder)
    assert sorted(mutants) == [
        (5, ".to(device)"),
        (6, ".to(device)"),
        (8, ".to(device)"),
        (9, "device=device"),
        (11, ".cpu()"),
    ]
    assert {each["file"] for each in mutants.values()} == {"train.py"}


def test_what_is_found_is_told_with_its_line_and_repair(folder):
    _, mutants = mutate(folder)
    found = {move: bool(each["findings"]) for move, each in mutants.items()}
    assert not found.pop((6, ".to(device)"))
    assert all(found.values())
    assert mutants[8, ".to(device)"]["names_line"]
    assert mutants[8, ".to(device)"]["repaired"]


def test_a_redundant_move_is_not_held_against_devicelint(folder, capsys):
    status, _ = mutate(folder)
    assert status == 1
    assert "missed  owner/name  train.py:6:25: .to(device)" in capsys.readouterr().out
    redundant(folder)
    status, mutants = mutate(folder)
    assert status == 0
    assert mutants[6, ".to(device)"]["reason"] == "a loss without weights"
    said = capsys.readouterr().out
    assert "missed" not in said
    assert "pass  harmful mutants found: 100.0%, at least 90%" in said


def test_a_column_chooses_one_of_several_moves_on_a_line(folder):
    redundant(folder, column=7)
    _, mutants = mutate(folder)
    assert mutants[6, ".to(device)"]["reason"] == ""


def test_a_redundant_move_that_is_reported_is_told(folder, capsys):
    redundant(folder, lines=[8])
    mutate(folder)
    assert (
        "found, though redundant  owner/name  train.py:8:6: .to(device)" in capsys.readouterr().out
    )


def test_redundant_moves_hold_for_one_commit(folder, capsys):
    redundant(folder)
    (folder / "owner+name.commit").write_text("d" * 40)
    assert main([str(folder), "--redundant", str(folder.parent / "redundant")]) == 2
    assert "is about cccccccccccc" in capsys.readouterr().err


def test_nothing_to_mutate_is_told(folder, capsys):
    (folder / "owner+name" / "train.py").write_text("import torch\n")
    assert main([str(folder)]) == 2
    assert "checks clean and has a move" in capsys.readouterr().err


def moves(text):
    return [move.text for move in moves_to_remove(text)]


def test_cpu_is_a_move_where_numpy_follows():
    assert moves("a = x.detach().cpu().numpy()\n") == [".cpu()"]
    assert moves("a = x.cpu().data.numpy()\n") == [".cpu()"]
    assert moves("a = x.cpu()\n") == []


def test_a_device_for_a_function_of_another_file_is_no_move():
    assert moves("from helper import ones\na = ones(3, device=d)\n") == []
    assert moves("from torch import ones\na = ones(3, device=d)\n") == ["device=d"]
    assert moves("import torch.nn as nn\na = nn.Linear(1, 2, device=d)\n") == ["device=d"]


def test_a_statement_has_the_names_that_it_gives_a_value():
    text = "if a:\n    x, self.y = f(\n        x.to(d), y)\n"
    assert statement_at(text, 3).lines == range(2, 4)
    assert statement_at(text, 3).names == {"x", "y"}
