"""Things that are forgotten in toys are harmful, or are not, and are found, or are not."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpora.outcomes import TestResult
from benchmarks.mutants.__main__ import main
from benchmarks.mutants.judging import Judged
from benchmarks.mutants.ledger import Ledger
from benchmarks.mutants.omissions import KINDS, omissions_in
from benchmarks.mutants.package_bench import chosen
from benchmarks.mutants.tables import report

COMMIT = "a" * 40
SUBJECT = """
[[subject]]
name = "{name}"
commit = "{commit}"
sources = [{sources}]
{runs}
"""
PACKAGE = {
    "toy/__init__.py": """
import os
import torch

NAME = os.environ.get("TOY_MAKES", "ones")
WEIGHTS = getattr(torch, NAME)(3, device="cuda" if torch.cuda.is_available() else "cpu")

class Shift(torch.nn.Module):
    def forward(self, x):
        return x + torch.ones(3, device=x.device)

def moved(x):
    return x.to(x.device)

def made(x):
    return torch.zeros(3, device=x.device)

def unused(x):
    return x + torch.ones(3, device=x.device)

def weighted(x):
    return moved(x) * WEIGHTS
""",
    "tests/test_toy.py": """
import pytest
import torch
import toy

@pytest.fixture
def x():
    return torch.zeros(3, device="cuda")

def test_shifted(x):
    toy.Shift()(x)

def test_moved(x):
    toy.moved(x)

def test_made(x):
    assert toy.made(x).device == x.device

def test_weighted(x):
    toy.weighted(x)

def test_unused_fails(x):
    toy.unused(x)
    assert False
""",
}
SCRIPT = {
    "train.py": """
import sys
import torch
from model import Net

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
x = torch.ones(2, 4).to(device)
net(x).sum().backward()
print(sys.argv[1], torch.zeros(3).to(device).sum())
""",
    "model.py": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        return self.layer(x - self.mean)
""",
}

RUNS = '[[subject.scripts]]\nname = "train"\ncommands = ["train.py well"]'


class Toy:
    """A checkout of one subject, and the command that judges its mutants."""

    def __init__(self, folder: Path, name: str, files: dict[str, str], **table: str) -> None:
        checkout = folder / "checkouts" / name.replace("/", "+")
        for file, text in files.items():
            (checkout / file).parent.mkdir(parents=True, exist_ok=True)
            (checkout / file).write_text(text)
        checkout.with_name(f"{checkout.name}.commit").write_text(COMMIT)
        self.folder = folder
        (folder / "subjects.toml").write_text(SUBJECT.format(name=name, commit=COMMIT, **table))

    def judge(self, *options: str) -> dict[str, list[dict[str, Any]]]:
        """What becomes of the mutants, by what the line is about."""
        words = [str(self.folder / "checkouts"), "--environment", sys.prefix, *options]
        words += ["--subjects", str(self.folder / "subjects.toml")]
        assert main([*words, "--out", str(self.folder / "out")]) == 0
        found: dict[str, list[dict[str, Any]]] = {}
        for line in (self.folder / "out" / "results.jsonl").read_text().splitlines():
            data = json.loads(line)
            found.setdefault(data["fate"], []).append(data)
        return found


def package(folder: Path, name: str) -> Toy:
    runs = '[subject.tests]\npaths = ["tests"]'
    return Toy(folder, name, PACKAGE, sources='"toy"', runs=runs)


def script(folder: Path, name: str) -> Toy:
    return Toy(folder, name, SCRIPT, sources='"."', runs=RUNS)


def lines(found: list[dict[str, Any]]) -> list[str]:
    return sorted(str(each["text"][0]).strip() for each in found)


def test_mutants_of_a_package_are_judged_by_its_tests(tmp_path, capsys):
    found = package(tmp_path, "owner/name").judge()
    assert lines(found["not run"]) == ["return x + torch.ones(3, device=x.device)"]
    assert lines(found["redundant"]) == ["return x.to(x.device)"]
    assert lines(found["fails otherwise"]) == ["return torch.zeros(3, device=x.device)"]
    missed, caught = sorted(found["harmful"], key=lambda each: each.get("found", False))
    assert "same device" in missed["error"]
    assert "torch.ones" in caught["text"][0]
    assert [caught["found"], caught["safe"], caught["all"]] == [True, True, True]
    (miss,) = (tmp_path / "out" / "misses").iterdir()
    said = miss.read_text().splitlines()
    assert said[-1] == "+WEIGHTS = getattr(torch, NAME)(3)"
    assert "error: RuntimeError: Expected all tensors to be on the same device" in said[2]
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("found 1 of 2 harmful, repaired 1")
    assert last.endswith("found 0 of 0 harmful, repaired 0 (measure)")


def test_of_the_measuring_half_only_figures_are_written(tmp_path, capsys):
    toy = script(tmp_path, "owner/toy")
    found = toy.judge("--count", "1", "--round", "1")
    first = sum(map(len, found.values()))
    told = {name for results in found.values() for each in results for name in each}
    assert told <= {"key", "half", "kind", "fate", "found", "elsewhere", "safe", "all"}
    assert not (tmp_path / "out" / "misses").exists()
    assert "owner/toy" not in "".join(capsys.readouterr())
    again = toy.judge()
    assert {fate: len(of) for fate, of in again.items()} == {"harmful": 3, "redundant": 1}
    assert first == 1


def test_mutants_of_a_script_are_judged_by_its_runs(tmp_path):
    found = script(tmp_path, "owner/train").judge()
    assert lines(found["redundant"]) == ["print(sys.argv[1], torch.zeros(3).to(device).sum())"]
    assert lines(found["harmful"]) == [
        "net = Net().to(device)",
        'self.register_buffer("mean", torch.zeros(4))',
        "x = torch.ones(2, 4).to(device)",
    ]
    assert {each["kind"]: each.get("found", False) for each in found["harmful"]} == {
        "to": True,
        "buffer": True,
    }
    assert all(each.get("all") for each in found["harmful"])


def test_where_no_script_runs_nothing_is_judged_nor_kept(tmp_path, capsys):
    toy = Toy(tmp_path, "owner/train", SCRIPT, sources='"."', runs=RUNS.replace("well", ""))
    words = [str(tmp_path / "checkouts"), "--environment", sys.prefix]
    words += ["--subjects", str(toy.folder / "subjects.toml"), "--out", str(tmp_path / "out")]
    assert main(words) == 2
    assert "owner/train: no script runs to its end: " in capsys.readouterr().err
    assert not list((tmp_path / "out").rglob("*.json*"))


SOURCE = """import torch
from torch import nn
from other import made
class A(nn.Module):
    def __init__(self):
        self.register_buffer("b", torch.zeros(
            3))
        self.register_buffer("c", None)
        self.w = nn.Parameter(torch.ones(3), requires_grad=False)
        self.many = nn.ModuleList([nn.Linear(1, 1)])
        y = made(3, device=d)
        z = x.new_zeros(3, 4)
        z = torch.rand_like(x.y, dtype=torch.float)
        z = x.type_as(y)
        return z.cpu() + q.to(d) + torch.ones(3, device=d)
        torch.load(f, map_location=d)
"""
LEFT = {
    ("buffer", "self.b = torch.zeros(3)\\"),
    ("parameter", "self.w = (torch.ones(3))"),
    ("modules", "self.many = list([nn.Linear(1, 1)])"),
    ("handed on", "y = made(3)"),
    ("like", "z = torch.zeros(3, 4, dtype=x.dtype)"),
    ("like", "z = torch.rand(x.y.shape, dtype=torch.float)"),
    ("like", "z = x.to(y.dtype)"),
    ("cpu", "return z + q.to(d) + torch.ones(3, device=d)"),
    ("to", "return z.cpu() + q + torch.ones(3, device=d)"),
    ("device", "return z.cpu() + q.to(d) + torch.ones(3)"),
    ("map_location", "torch.load(f)"),
}


def test_each_kind_leaves_a_program_of_as_many_lines():
    found = set()
    for omission in omissions_in(SOURCE):
        mutant = omission.made_in(SOURCE)
        compile(mutant, "mutant", "exec")
        assert mutant.count("\n") == SOURCE.count("\n")
        found.add((omission.kind, mutant.splitlines()[omission.line - 1].strip()))
    assert found == LEFT
    assert {kind for kind, _ in found} <= set(KINDS)


def test_what_is_no_python_has_no_omissions():
    assert omissions_in("print 'x.cuda()'") == ()


def test_what_the_import_executes_is_told():
    outside = {
        each.line: each.is_outside_functions
        for each in omissions_in("a = b.cuda()\ndef f(c=d.cuda()):\n    return c.cpu()\n")
    }
    assert outside == {1: True, 2: True, 3: False}


def test_quick_tests_of_different_functions_decide():
    results = [
        TestResult(test, "passed", seconds=seconds)
        for test, seconds in (("a[1]", 1), ("a[2]", 2), ("b", 3), ("c", 20), ("d[1]", 4))
    ]
    assert chosen(results) == ("a[1]", "b", "d[1]", "a[2]")
    assert chosen(results[3:4]) == ("c",)
    assert chosen([]) == ()


def test_a_ledger_goes_on_after_a_line_that_was_cut_off(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.add([Judged("k", "measure", "to", "harmful", found=True)])
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"key": "l", "ha')
    results = Ledger(tmp_path).results
    assert results == {"k": Judged("k", "measure", "to", "harmful", found=True)}
    assert list(report(results.values()))[-1] == (
        "found 0 of 0 harmful, repaired 0 (learn); found 1 of 1 harmful, repaired 0 (measure)"
    )


def test_a_subject_that_is_not_there_is_told(tmp_path, capsys):
    assert main([str(tmp_path), "--only", "nobody/*"]) == 2
    assert "no subject is called nobody/*" in capsys.readouterr().err


@pytest.fixture
def replaced(monkeypatch):
    monkeypatch.syspath_prepend("benchmarks/mutants/child")
    import mutants_replaced

    return mutants_replaced


BEFORE = """
class Toy:
    def method(self):
        return [f() for f in (lambda: 1,)]

def outer():
    one = 1
    def inner():
        return one
    return inner

kept = outer()
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "replaced_toy.py").write_text(BEFORE)
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module("replaced_toy")
    del sys.modules["replaced_toy"]


def replace(replaced, module, old, new):
    file = str(Path(module.__file__).resolve())
    functions = replaced.Functions(frozenset({file}))
    functions.replace(file, BEFORE, BEFORE.replace(old, new))


def test_functions_get_other_code(replaced, module):
    replace(replaced, module, "lambda: 1", "lambda: 2")
    assert module.Toy().method() == [2]
    replace(replaced, module, "return one", "return one + 1")
    assert module.kept() == 2
    assert module.outer()() == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kept = outer()", "kept = None"),
        ("def method(self)", "def method(self, one=1)"),
        ("return one", "return 1"),
    ],
)
def test_what_only_an_import_does_is_told(replaced, module, old, new):
    with pytest.raises(replaced.NeedsImport):
        replace(replaced, module, old, new)
