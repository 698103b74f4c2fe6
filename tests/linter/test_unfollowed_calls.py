"""What a note says of a program that calls what is not walked any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.interpreter.python import imports
from devicelint.linter.lint import check
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project

INSISTS = """\
import torch


def prepare(allows_cpu=False):
    if not allows_cpu:
        assert torch.cuda.is_available(), "This needs CUDA."
"""
GUARDS = """\
import torch


def prepare():
    if torch.cuda.is_available():
        torch.cuda.synchronize()
"""
PROGRAM = """\
import torch
from first import name
from start import prepare

print(name)
prepare()
x = torch.ones(3).cuda()
"""


@pytest.fixture(autouse=True)
def one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk one imported file, and none after it."""
    monkeypatch.setattr(imports, "_MOST_LINES", 0)


def found(folder: Path, files: dict[str, str], checked: str = "main.py") -> list[str]:
    (folder / "pyproject.toml").touch()
    for name, text in {"first.py": "name = 'first'\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path = folder / checked
    source = SourceFile.from_bytes(path.read_bytes(), str(path))
    return [one.code for one in check(source, None, Project()).findings]


def test_what_may_insist_on_an_accelerator_leaves_the_rest_in_doubt(tmp_path: Path) -> None:
    assert found(tmp_path, {"start.py": INSISTS, "main.py": PROGRAM}) == []


def test_what_asks_for_one_does_not(tmp_path: Path) -> None:
    assert found(tmp_path, {"start.py": GUARDS, "main.py": PROGRAM}) == ["DEV409"]


def test_what_it_calls_is_looked_at_as_well(tmp_path: Path) -> None:
    calls = "from deep import start\n\n\ndef prepare():\n    start()\n"
    nccl = (
        "import torch.distributed as dist\n\n\ndef start():\n    dist.init_process_group('nccl')\n"
    )
    files = {"start.py": calls, "deep.py": nccl, "main.py": PROGRAM}
    assert found(tmp_path, files) == []
    assert found(tmp_path, {**files, "deep.py": nccl.replace("nccl", "gloo")}) == ["DEV409"]


@pytest.mark.parametrize(("name", "codes"), [("Net", []), ("Other", ["DEV409"])])
def test_so_is_the_constructor_of_a_class(tmp_path: Path, name: str, codes: list[str]) -> None:
    classes = """\
import torch


class Base:
    def __init__(self):
        self.weight = torch.ones(3).cuda()


class Net(Base):
    def __init__(self):
        super().__init__()
        self.fill()

    def fill(self):
        self.weight = torch.ones(3, device="cuda")


class Other:
    def unused(self):
        torch.cuda.synchronize()
"""
    program = PROGRAM.replace("start import prepare", f"nets import {name}")
    files = {"nets.py": classes, "main.py": program.replace("prepare", name)}
    assert found(tmp_path, files) == codes


def test_what_is_handed_to_such_a_call_runs_in_there(tmp_path: Path) -> None:
    program = """\
import torch
from first import name
from start import train

print(name)


def step(model):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return model.to(device)(torch.ones(3).cuda())


train(step)
"""
    train = INSISTS.replace("prepare(", "train(step, ")
    assert found(tmp_path, {"start.py": train, "main.py": program}) == []
    guards = GUARDS.replace("prepare()", "train(step)")
    assert found(tmp_path, {"start.py": guards, "main.py": program}) == ["DEV401"]


def test_a_package_of_folders_alone_is_one(tmp_path: Path) -> None:
    program = PROGRAM.replace("start import", "whole.part.start import")
    files = {"whole/part/start.py": INSISTS, "main.py": program}
    assert found(tmp_path, files) == []
    assert found(tmp_path, {**files, "whole/part/start.py": GUARDS}) == ["DEV409"]
