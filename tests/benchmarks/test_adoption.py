"""`benchmarks/adoption` adopts scripts of public repositories, runs them, and compares."""

from __future__ import annotations

import json

import pytest

from benchmarks.adoption.__main__ import main
from benchmarks.adoption.listed import Listed, Repository, path_of, read_list, written
from benchmarks.adoption.shortening import shortened
from benchmarks.checkouts import CheckoutError

COMMIT = "c" * 40
TRAIN = """import torch
from torch import nn

net = nn.Linear(3, 1)  # the model
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(100000):
    loss = net(torch.rand(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
"""
STUCK = "import torch\nfrom unheard_of import net\n\nnet(torch.rand(3)).backward()\n"
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": "first",
            "metadata": {},
            "outputs": [],
            "source": ["%matplotlib inline\n", *TRAIN.splitlines(keepends=True)],
        }
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def folder(tmp_path):
    checkout = tmp_path / "trees" / "owner+name"
    checkout.mkdir(parents=True)
    checkout.with_name("owner+name.commit").write_text(COMMIT)
    (checkout / "train.py").write_text(TRAIN)
    (checkout / "stuck.py").write_text(STUCK)
    (checkout / "train.ipynb").write_text(json.dumps(NOTEBOOK, indent=1) + "\n")
    (tmp_path / "lists").mkdir()
    return tmp_path


def listed(folder, *files):
    repository = Repository("owner/name", COMMIT, files)
    path_of(folder / "lists", "owner/name").write_text(written(repository))


def adopt(folder, *options):
    status = main([str(folder / "trees"), "--lists", str(folder / "lists"), *options])
    files = read_list(folder / "lists" / "owner+name.toml").files
    return status, {each.path: each for each in files}


def test_what_is_found_is_recorded_and_compared_afterwards(folder, capsys):
    listed(folder, Listed("train.py", "none"), Listed("train.ipynb", "none"))
    status, files = adopt(folder)
    assert status == 1
    assert "owner/name/train.py: adopted '', now 'clean'" in capsys.readouterr().out
    assert files["train.py"].adopted == ""
    status, files = adopt(folder, "--record")
    assert status == 0
    assert {path: each.adopted for path, each in files.items()} == {
        "train.py": "clean",
        "train.ipynb": "clean",
    }
    assert adopt(folder)[0] == 0


def test_the_checkout_is_left_as_it_is(folder):
    listed(folder, Listed("train.py", "none"))
    adopt(folder, "--keep", str(folder / "kept"))
    assert (folder / "trees" / "owner+name" / "train.py").read_text() == TRAIN
    assert ".to(device)  # the model" in (folder / "kept/owner+name/train.py").read_text()


def test_a_file_in_which_nothing_is_adopted_fails(folder, capsys):
    listed(folder, Listed("stuck.py", "none"))
    status, files = adopt(folder, "--record")
    assert status == 1
    assert files["stuck.py"].adopted == "nothing changed"
    assert "FAIL  adopt to a clean check: 0.0%, at least 90%" in capsys.readouterr().out


def test_scripts_are_run_before_and_after(folder, capsys):
    listed(folder, Listed("train.py", "none"), Listed("stuck.py", "none", excuse="no such module"))
    _, files = adopt(folder, "--run", "--record")
    assert files["train.py"].ran == "same"
    assert (files["stuck.py"].ran, files["stuck.py"].told) == ("not runnable", "no such module")
    assert "pass  train on virtual GPUs: 100.0%, at least 80%" in capsys.readouterr().out


def test_a_list_holds_for_one_commit(folder, capsys):
    listed(folder, Listed("train.py", "none"))
    (folder / "trees" / "owner+name.commit").write_text("d" * 40)
    assert adopt(folder)[0] == 2
    assert "is about cccccccccccc" in capsys.readouterr().err


def test_an_unknown_kind_is_refused(folder):
    listed(folder, Listed("train.py", "cpu"))
    with pytest.raises(CheckoutError, match="'cpu' is no kind"):
        adopt(folder)


def test_only_loops_that_train_are_short():
    loops = "for a in range(9):\n    f(a)\nwhile n < 3:\n    step()\nfor b in c:\n    print(b)\n"
    text = f"def step():\n    loss.backward()\ndef f(a):\n    step()\n{loops}"
    assert shortened(text).splitlines()[4:] == [
        "for a in few_rounds((range(9))):",
        "    f(a)",
        "for _round_ in few_rounds(iter(lambda: bool( n < 3), False)):",
        "    step()",
        "for b in c:",
        "    print(b)",
    ]


def test_the_element_of_a_loss_is_its_number():
    assert (
        shortened("a = loss.data[0] / n + x.data[1]\n")
        == "a = first_of(loss.data) / n + x.data[1]\n"
    )
