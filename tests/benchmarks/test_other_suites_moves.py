"""The benchmark that takes moves out of other packages, one at a time."""

from __future__ import annotations

import pytest

from benchmarks.other_suites.moves import measured, rows, sites
from benchmarks.other_suites.suites import Suite

pytest.importorskip("torch")

PACKAGE = """
import torch

def needed(x):
    return x + torch.ones(2).to(x.device)

def created(x):
    return x * torch.ones(2, device=x.device)

def overwritten(x):
    total = torch.zeros(2, device=x.device)
    total = x
    return total

def of_no_use(x):
    return x.to(x.device)

def never_called(x):
    return x + torch.ones(2).to(x.device)
"""
TESTS = """
import pytest
import torch
from mine import created, needed, of_no_use, overwritten

@pytest.mark.parametrize("function", [created, needed, of_no_use, overwritten])
def test_it(function):
    x = torch.ones(2, device="cuda")
    assert function(x).device == x.device
"""


@pytest.fixture
def checkout(tmp_path):
    """A package and its tests, with a suite of which all of it is known."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "mine.py").write_text(PACKAGE, "utf-8")
    (tmp_path / "tests" / "test_mine.py").write_text(TESTS, "utf-8")
    return tmp_path


def test_each_move_that_places_something_is_taken_out(checkout):
    found = measured(Suite("mine", "owner/mine", ["tests"]), checkout, 9, seed=1, minutes=5)
    noticed = {one.place.split(":")[1]: one.noticed for one in found}
    assert noticed == {"5": True, "8": True, "11": False}
    assert "same device" in next(one.error for one in found if one.place.startswith("mine.py:5:"))
    assert (checkout / "mine.py").read_text("utf-8") == PACKAGE
    table = list(rows({"mine": found}))
    assert table[2] == "| mine | 3 | 2 | 1 |"
    assert table[-1].startswith("mine mine.py:11:")


def test_moves_of_tests_are_no_moves_of_the_package(checkout):
    (checkout / "tests" / "helper.py").write_text("def f(x): return x.cuda()\n", "utf-8")
    (checkout / "broken.py").write_text("def f(x: return x.cuda()\n", "utf-8")
    assert {site.file.name for site in sites(checkout)} == {"mine.py"}
