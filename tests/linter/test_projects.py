"""What the project around a file says of the clashes in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devicelint.linter.lint import check
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project

ACTOR = """\
import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        noise = torch.randn(8, 2)
        return self.head(x) + noise
"""
TRAIN = """\
import torch
from actor import Actor

if __name__ == "__main__":
    actor = Actor()
    actor(torch.ones(8, 4)).sum().backward()
"""


def found(folder: Path, files: dict[str, str], checked: str) -> list[str]:
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / name).write_text(text)
    path = folder / checked
    source = SourceFile.from_bytes(path.read_bytes(), str(path))
    return [one.code for one in check(source, None, Project()).findings]


def test_callers_of_a_project_that_never_leaves_the_cpu_are_there(tmp_path: Path) -> None:
    assert found(tmp_path, {"actor.py": ACTOR, "train.py": TRAIN}, "actor.py") == []


def test_those_of_a_project_that_may_are_anywhere(tmp_path: Path) -> None:
    moves = TRAIN.replace("Actor()\n", 'Actor().to("cuda")\n')
    files = {"actor.py": ACTOR, "train.py": TRAIN, "other.py": moves}
    assert found(tmp_path, files, "actor.py") == ["DEV103"]


def test_so_are_those_of_a_library_without_a_program(tmp_path: Path) -> None:
    assert found(tmp_path, {"actor.py": ACTOR}, "actor.py") == ["DEV103"]


DENOISER = """\
import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.window = [torch.ones(shape).cuda()]

    def forward(self, x):
        return x + torch.zeros(3, device=x.device)
"""
CHOOSES = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(torch.ones(3, device=device))
"""
TAKES = """\
import torch

if __name__ == "__main__":
    print(torch.ones(3).cuda())
"""


def test_a_module_that_nothing_imports_may_be_for_the_programs_that_take_an_accelerator(
    tmp_path: Path,
) -> None:
    files = {"denoiser.py": DENOISER, "one.py": CHOOSES, "other.py": TAKES}
    assert found(tmp_path, files, "denoiser.py") == []


def test_a_module_whose_program_chooses_goes_where_that_does(tmp_path: Path) -> None:
    chooses = f"from denoiser import Denoiser\n{CHOOSES}"
    files = {"denoiser.py": DENOISER, "one.py": chooses, "other.py": TAKES}
    assert found(tmp_path, files, "denoiser.py") == ["DEV401"]


def test_so_does_one_beside_programs_that_all_choose(tmp_path: Path) -> None:
    files = {"denoiser.py": DENOISER, "one.py": CHOOSES}
    assert found(tmp_path, files, "denoiser.py") == ["DEV401"]


SAMPLED = """\
import torch


def sampled(x: torch.Tensor, n):
    return torch.index_select(x, 0, torch.linspace(0, 9, n).long())
"""


def test_nothing_says_who_calls_a_file_that_lies_alone(tmp_path: Path) -> None:
    path = tmp_path / "sampling.py"
    path.write_text(SAMPLED)
    source = SourceFile.from_bytes(path.read_bytes(), str(path))
    assert [one.code for one in check(source, None, Project()).findings] == ["DEV103"]


def test_those_of_a_project_are_to_be_seen(tmp_path: Path) -> None:
    assert found(tmp_path, {"sampling.py": SAMPLED}, "sampling.py") == []


def test_a_program_calls_its_functions_itself(tmp_path: Path) -> None:
    path = tmp_path / "sampling.py"
    path.write_text(SAMPLED + 'if __name__ == "__main__":\n    sampled(torch.ones(9), 3)\n')
    source = SourceFile.from_bytes(path.read_bytes(), str(path))
    assert check(source, None, Project()).findings == ()


HIDDEN_STATE = """\
import torch
from torch import nn


class Cell(nn.Module):
    def forward(self, x):
        if self.training:
            torch.cuda.synchronize()
        return x, torch.zeros(3).cuda()
"""
CHOOSING = """

def best():
    return "cuda" if torch.cuda.is_available() else "cpu"
"""


def alone(path: Path, text: str) -> list[str]:
    path.write_text(text)
    source = SourceFile.from_bytes(path.read_bytes(), str(path))
    return [one.code for one in check(source, None, Project()).findings]


def test_a_file_that_lies_alone_needs_an_accelerator_of_whoever_uses_it(tmp_path: Path) -> None:
    assert alone(tmp_path / "cell.py", HIDDEN_STATE) == ["DEV409"]


def test_one_that_chooses_a_machine_does_not(tmp_path: Path) -> None:
    assert "DEV409" not in alone(tmp_path / "cell.py", HIDDEN_STATE + CHOOSING)


def test_the_tests_of_one_that_lies_alone_are_for_those_who_have_one(tmp_path: Path) -> None:
    test = "import torch\n\n\ndef test_sum():\n    assert torch.ones(3).cuda().sum() == 3\n"
    assert alone(tmp_path / "test_cell.py", test) == []


def test_the_files_of_a_project_have_users_who_are_seen(tmp_path: Path) -> None:
    assert found(tmp_path, {"cell.py": HIDDEN_STATE}, "cell.py") == []


ADDED = """\
import torch


def added(x: torch.Tensor):
    table = torch.ones(3, device=x.device)
    return x + table + torch.ones(3).cuda()
"""
CALLING = """\
import sys
import torch
from adding import added

device = torch.device({device})
added(torch.ones(3, device=device))
"""


@pytest.mark.parametrize(
    ("device", "codes"),
    [('"cuda"', []), ("sys.argv[1]", ["DEV401"])],
)
def test_calls_with_an_accelerator_agree_with_one(
    tmp_path: Path, device: str, codes: list[str]
) -> None:
    files = {"adding.py": ADDED, "main.py": CALLING.format(device=device)}
    assert found(tmp_path, files, "adding.py") == codes


def test_what_lies_among_tests_of_something_else_is_given_what_they_have_made(
    tmp_path: Path,
) -> None:
    test = "import torch\nfrom actor import Actor\nfrom net.main import train\n\ntrain(Actor())\n"
    (tmp_path / "net").mkdir()
    files = {"actor.py": ACTOR, "test_actor.py": test, "net/main.py": "import torch\n"}
    assert found(tmp_path, files, "actor.py") == []
    use = {**files, "use.py": "import torch\nimport actor\n"}
    assert found(tmp_path, use, "actor.py") == ["DEV103"]


def test_what_is_tested_itself_is_not(tmp_path: Path) -> None:
    test = "import torch\nfrom actor import Actor\n\n\ndef test_it():\n    Actor().cuda()\n"
    assert found(tmp_path, {"actor.py": ACTOR, "test_actor.py": test}, "actor.py") == ["DEV103"]


RESTORING = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def restore(self, path):
        self.load_state_dict(torch.load(path))
"""


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("train.py", "from net import Net\n\nprint(Net())\n", []),
        ("train.py", "from net import Net\n\nNet().restore('x.pt')\n", ["DEV303"]),
        ("readme.md", "Call `restore` with the file.", ["DEV303"]),
        ("play.ipynb", '{"source": ["net.restore(name)"]}', ["DEV303"]),
        ("setup.py", "import setuptools\n\nsetuptools.setup()\n", ["DEV303"]),
    ],
)
def test_what_nothing_in_a_project_calls_loads_nothing(tmp_path, name, text, told) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(text)
    path = tmp_path / "net.py"
    path.write_text(RESTORING)
    source = SourceFile.from_bytes(path.read_bytes(), str(path))
    assert [one.code for one in check(source, project=Project()).findings] == told


def test_of_a_file_that_lies_alone_nobody_knows_who_calls_it(tmp_path) -> None:
    path = tmp_path / "alone" / "net.py"
    path.parent.mkdir()
    path.write_text(RESTORING)
    source = SourceFile.from_bytes(path.read_bytes(), str(path))
    assert [one.code for one in check(source, project=Project()).findings] == ["DEV303"]


def test_what_a_decorator_or_the_file_itself_takes_may_be_called(tmp_path) -> None:
    (tmp_path / ".git").mkdir()
    path = tmp_path / "net.py"
    decorated = RESTORING.replace("    def restore", "    @staticmethod\n    def restore")
    handed_on = f"{RESTORING}\n\nprint(Net.restore)\n"
    hook = RESTORING.replace("nn.Module", "pl.LightningModule").replace("restore", "on_fit_start")
    hook = hook.replace("from torch", "import lightning as pl\nfrom torch")
    for text in (decorated, handed_on, hook):
        path.write_text(text)
        source = SourceFile.from_bytes(path.read_bytes(), str(path))
        assert [one.code for one in check(source, project=Project()).findings] == ["DEV303"]


def codes_in(path: Path, text: str) -> list[str]:
    """The rules that report something of a file of a project, written there first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    source = SourceFile.from_bytes(path.read_bytes(), str(path))
    return [one.code for one in check(source, project=Project()).findings]


@pytest.mark.parametrize(
    ("folder", "packages", "told"),
    [
        (".", (), ["DEV303"]),
        ("nets", ("nets",), ["DEV303"]),
        ("src/nets/deep", ("src/nets", "src/nets/deep"), ["DEV303"]),
        ("scripts", (), []),
        ("scripts/old/nets", ("scripts/old/nets",), []),
    ],
)
def test_what_no_package_holds_is_not_installed(tmp_path, folder, packages, told) -> None:
    (tmp_path / "setup.py").write_text("import setuptools\n\nsetuptools.setup()\n")
    for one in packages:
        (tmp_path / one).mkdir(parents=True)
        (tmp_path / one / "__init__.py").touch()
    assert codes_in(tmp_path / folder / "net.py", RESTORING) == told


CELL = """\
import torch
from torch import nn


def restore(self, path, show=False):
    self.model.to("cuda" if torch.cuda.is_available() else "cpu")
    self.model.load_state_dict(torch.load(path))


def show_all(restore):
    print(restore)
"""


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("show_all(1)\n", []),
        ("restore(net, name)\n", ["DEV303"]),
        ("net.fit(restore)\n", ["DEV303"]),
    ],
)
def test_a_function_of_a_notebook_is_called_in_it_or_never(tmp_path, call, told) -> None:
    cells = [{"cell_type": "code", "source": one} for one in (CELL, call)]
    notebook = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    assert codes_in(tmp_path / "play.ipynb", notebook) == told


SAVING = """\
from torch import save as keep


def save(net, path):
    state = net.state_dict()
    for key, parameter in state.items():
        state[key] = parameter.cpu()
    keep(state, path)
"""
TESTING = """\
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--weights")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
model.load_state_dict(torch.load(args.weights))
"""


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("import torch\n\n\ndef run(model):\n    model.save(torch)\n", []),
        ("import torch\n\n\ndef run(m):\n    torch.save(m.cuda(), 'm.pt')\n", ["DEV303"]),
    ],
)
def test_of_the_files_that_save_something_those_count_that_save_tensors(
    tmp_path, other, told
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "saving.py").write_text(SAVING)
    for number in range(9):
        (tmp_path / "nets" / f"other_{number}.py").write_text(other)
    assert codes_in(tmp_path / "testing.py", TESTING) == told


EXPERIMENT = """\
import os

import torch
from torch import nn


class Experiment(object):
    def __init__(self, folder):
        self.folder = folder
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = nn.Linear(4, 2).to(self.device)

    def train(self, name):
        torch.save(self.model.state_dict(), os.path.join(self.folder, name) + "/best.pt")

    def restore(self, name):
        path = os.path.join(self.folder, name)
        self.model.load_state_dict(torch.load(path + "/best.pt"))
"""
RUNNING = """\
import argparse

from experiment import Experiment

parser = argparse.ArgumentParser()
parser.add_argument("--folder")
parser.add_argument("--name")
parser.add_argument("--resume", action="store_true")
args = parser.parse_args()
experiment = Experiment(args.folder)
"""
AT_ONCE = "experiment.train(args.name)\nexperiment.restore(args.name)\n"
AT_TIMES = (
    "if args.resume:\n    experiment.restore(args.name)\nelse:\n    experiment.train(args.name)\n"
)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"run.py": RUNNING + AT_ONCE}, []),
        ({"run.py": RUNNING + AT_ONCE, "README.md": "What to restore is named."}, []),
        ({"run.py": RUNNING + AT_ONCE, "README.md": "`experiment.restore(name)`"}, ["DEV303"]),
        ({"run.py": RUNNING + AT_TIMES}, ["DEV303"]),
        ({"run.py": RUNNING + AT_ONCE, "again.py": RUNNING + AT_TIMES}, ["DEV303"]),
    ],
)
def test_what_all_who_call_a_function_have_saved_is_of_their_machine(tmp_path, files, told) -> None:
    (tmp_path / ".git").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert codes_in(tmp_path / "experiment.py", EXPERIMENT) == told


def test_what_two_functions_load_is_read_if_one_of_them_is_called(tmp_path) -> None:
    (tmp_path / ".git").mkdir()
    text = RESTORING + "\n\ndef one(name):\n    Net().restore(name)\n"
    for other, told in (("two", []), ("main", ["DEV303"])):
        (tmp_path / "run.py").write_text("from net import main\n\nmain('net.pt')\n")
        more = f"\n\ndef {other}(name):\n    Net().restore(name)\n"
        assert codes_in(tmp_path / "net.py", text + more) == told
