"""What a project's other files say is a part of what a remembered result rests on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cache.conftest import write

SCORES = """\
import torch


def smoothed(scores: torch.Tensor):
    return scores.softmax(1) + torch.full((3,), 1e-6)
"""
CALLS = """\
import torch
from scores import smoothed

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 3).to({0})
smoothed(model(torch.rand(8, 4, device={0})))
"""
NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x.cuda()
"""
CHOOSES = """\
import net
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net.Net().to(device)({0})
"""
LOADS = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(3, 3).to(device)
model.load_state_dict(torch.load("weights.pt"))
"""
PICTURES = """\
import torch


def shifted(x: torch.Tensor):
    mean = torch.zeros(3, device=x.device)
    return x.unsqueeze(0) - mean + torch.rand(3)
"""
SAVES = """\
import torch

model = torch.nn.Linear(3, 3).to("{0}")
torch.save(model.state_dict(), "weights.pt")
"""


@pytest.fixture(autouse=True)
def _in_a_project(_in_a_folder):
    Path(".git").mkdir()


def test_what_callers_give_is_part_of_it(run):
    write(scores=SCORES, train=CALLS.format("device"))
    first, told = run()
    assert first == ["scores.py", "train.py"]
    assert "scores.py:5:32: DEV103" in told
    assert run() == ([], told)
    write(train=CALLS.format('"cpu"'))
    again, told = run()
    assert again == ["scores.py", "train.py"]
    assert "scores.py" not in told
    assert run() == ([], told)


def test_so_is_a_file_that_mentions_a_function_from_now_on(run):
    write(scores=SCORES)
    assert "scores.py" not in run()[1]
    write(train=CALLS.format("device"))
    again, told = run()
    assert again == ["scores.py", "train.py"]
    assert "scores.py" in told


def test_so_is_what_other_files_save(run):
    write(reads=LOADS, saves=SAVES.format("cpu"))
    assert "reads.py" not in run()[1]
    write(saves=SAVES.format("cuda"))
    again, told = run()
    assert again == ["reads.py", "saves.py"]
    assert "reads.py" in told
    assert run() == ([], told)


def test_so_is_what_marks_the_project_as_one_that_others_install(run):
    Path("kit").mkdir()
    write(**{"kit/__init__": "from .pictures import shifted\n", "kit/pictures": PICTURES})
    assert "pictures.py" not in run()[1]
    Path("setup.cfg").touch()
    again, told = run()
    assert "kit/pictures.py" in again
    assert "pictures.py" in told
    assert run() == ([], told)


def test_so_is_the_package_that_offers_a_function(run):
    Path("kit").mkdir()
    Path("setup.cfg").touch()
    write(**{"kit/__init__": "import torch\n", "kit/pictures": PICTURES})
    assert "pictures.py" not in run()[1]
    write(**{"kit/__init__": "from .pictures import shifted\n"})
    assert "pictures.py" in run()[1]


def test_what_nobody_looks_at_is_none(run):
    write(net=NET, choose=CHOOSES.format(1), lead="import net\n", other="import torch\n")
    run()
    assert run()[0] == []
    write(other="import torch\n\nx = torch.ones(3)\n")
    assert run()[0] == ["other.py"]


def test_only_whether_a_program_chooses_is(run):
    write(net=NET, choose=CHOOSES.format(1))
    _, told = run()
    write(choose=CHOOSES.format(2))
    assert run() == (["choose.py"], told)
    write(choose="import net\nimport torch\n")
    assert "net.py" in run()[0]
