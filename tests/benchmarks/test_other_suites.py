"""The benchmark that runs the test suites of other packages on virtual devices."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.other_suites.__main__ import measured, rows
from benchmarks.other_suites.outcomes import Outcome, compared, read
from benchmarks.other_suites.suites import Suite, suites

pytest.importorskip("torch")

TESTS = """
import pytest
import torch

@pytest.fixture(params=["cpu", *(["cuda"] if torch.cuda.is_available() else [])])
def device(request):
    return request.param

def test_right(device):
    assert (torch.ones(2, device=device) + torch.ones(2, device=device)).device.type == device

def test_wrong(device):
    torch.ones(2, device=device) + torch.ones(2)

def test_broken(device):
    assert device is None

def test_now_and_then(device):
    assert device == "cpu"

@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_of_a_gpu():
    torch.ones(2).cuda()
"""


def test_a_suite_is_held_against_itself_on_the_cpu(tmp_path):
    checkout, out = tmp_path / "checkout", tmp_path / "out"
    out.mkdir()
    (checkout / "tests").mkdir(parents=True)
    (checkout / "tests" / "test_it.py").write_text(TESTS, "utf-8")
    suite = Suite("mine", "owner/mine", ["tests"], own={"now_and_then": "it says so"})
    found = measured(suite, checkout, out, limit=300)
    assert found is not None
    assert (found.tests, found.on_device) == (9, 3)
    assert found.broken == Counter({"devices": 1})
    assert (found.own, found.broken_on_cpu) == (1, 2)
    (name,) = found.names
    assert name.endswith("test_wrong[cuda]")
    table = list(rows({"mine": found, "other": None}))
    assert table[2].startswith("| mine | 9 | 3 | 1 | 1 devices | 1 | 2 |")
    assert table[-1].startswith("| other | did not come to its end |")


def test_a_suite_that_does_not_come_to_its_end_does_not_count(tmp_path):
    (tmp_path / "test_it.py").write_text("import time\ndef test_it(): time.sleep(60)\n", "utf-8")
    assert measured(Suite("slow", "owner/slow", ["."]), tmp_path, tmp_path, limit=3) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("RuntimeError: Expected all tensors to be on the same device, but", "devices"),
        ("TypeError: got patch.device: cuda:0 and device type cpu", "devices"),
        ("ValueError: run_and_get_code gave nothing", "compiled code"),
        (
            "NotImplementedError: Could not run 'x' with arguments from the 'CPU' backend",
            "a kernel",
        ),
        ("AssertionError: 1 != 2", "something else"),
    ],
)
def test_a_failure_is_told_by_its_text(text, kind):
    assert Outcome("failed", text, 0.0).kind.startswith(kind)


def test_a_run_that_left_nothing_has_no_outcomes(tmp_path):
    assert read(tmp_path / "none.xml") == {}
    assert compared({}, {}, 0, ()).tests == 0


def test_the_suites_are_fifteen_and_three_were_never_tried():
    found = suites()
    assert len({suite.name for suite in found}) >= 15
    assert sum(suite.never_tried for suite in found) >= 3
    assert all("/" in suite.repository and suite.tests for suite in found)
    assert not any(Path(test).is_absolute() for suite in found for test in suite.tests)
