"""How blocks are executed: the machine, what ran before, what runs after, and the fixes."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import torch

from tests.mdtest.execution import execute
from tests.mdtest.page import Run, sections
from tests.mdtest.runner import Complaint
from tests.mdtest.test_harness import page, run

MIXED = "found at least two devices"


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("run", Run()),
        ("run cpu", Run(0)),
        ("run 1", Run(1, alone=True)),
        ("run --gpu 1", Run(arguments=("--gpu", "1"))),
        ("run cpu --fast", Run(0, arguments=("--fast",))),
        ("runs", None),
        ("", None),
    ],
)
def test_tags_say_how_a_block_is_executed(tags: str, expected: Run | None) -> None:
    assert Run.of(tags) == expected


def test_a_script_has_arguments_and_leaves_nothing_behind() -> None:
    code = """\
        import os, random, sys, torch
        assert sys.argv == ["example.py", "--fast"] and __name__ == "__main__"
        os.environ["LEFT_BEHIND"] = "1"
        open("left.txt", "w").close()
        random.seed(3)
        torch.manual_seed(3)
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("cpu")
        torch.set_grad_enabled(False)
        print("not shown")
    """
    before = (list(sys.argv), Path.cwd(), random.getstate(), sys.modules["__main__"])
    chance = torch.get_rng_state()
    assert execute(dedent(code), "example.py", Run(arguments=("--fast",))).failure is None
    assert (list(sys.argv), Path.cwd(), random.getstate(), sys.modules["__main__"]) == before
    assert torch.equal(torch.get_rng_state(), chance)
    assert "LEFT_BEHIND" not in os.environ
    assert not Path("left.txt").exists()
    assert (torch.get_default_dtype(), torch.is_grad_enabled()) == (torch.float32, True)


def told_of(text: str) -> Complaint:
    found = run(text)
    assert len(found) == 1, found
    return found[0]


FIXED = """\
    # P
    ~~~py run
    import torch
    x = torch.ones(3, device="cuda" if torch.cuda.is_available() else "cpu")
    bad = lambda x: x + torch.ones(3)
    good = lambda x: x + {right}
    bad(x)  # error
    ~~~
    ~~~diff
     x = torch.ones(3, device="cuda" if torch.cuda.is_available() else "cpu")
     bad = lambda x: x + torch.ones(3)
     good = lambda x: x + {right}
    -bad(x)
    +good(x)
    ~~~
"""


def test_a_fix_that_is_shown_runs_on_both_machines() -> None:
    assert run(FIXED.format(right="torch.ones_like(x)")) == []
    complaint = told_of(FIXED.format(right="torch.ones(3)"))
    assert complaint.expected == "the fix runs on 2 virtual devices"
    assert MIXED in complaint.actual
    complaint = told_of(FIXED.format(right='torch.ones(3, device="cuda")'))
    assert complaint.expected == "the fix runs without an accelerator"


USED = """\
    # P
    ~~~py run
    import torch

    def add(x):
        return x + torch.ones(3)
    ~~~

    ~~~py then
    add(torch.ones(3, device="cuda")){mark}
    ~~~
"""


def test_then_is_code_of_others_that_uses_the_block() -> None:
    assert run(USED.format(mark='  # raises: "at least two"')) == []
    complaint = told_of(USED.format(mark='  # raises: "mat1"'))
    assert (complaint.line, complaint.code) == (10, 'add(torch.ones(3, device="cuda"))')
    assert told_of(USED.format(mark="  # error")).expected == "`# raises` at most"


def test_before_ran_on_a_machine_with_devices() -> None:
    text = """\
        # P
        ~~~py before
        import torch
        torch.save(torch.ones(3, device="cuda"), "saved.pt")
        ~~~
        ## A
        ~~~py run cpu
        import torch
        torch.load("saved.pt")  {mark}
        ~~~
    """
    words = "torch.cuda.is_available() is False"
    assert run(text.format(mark=f'# raises: "{words}"')) == []
    assert words in told_of(text.format(mark='# raises: "no such file"')).actual


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("~~~py then\n~~~", "`then` follows one block that is tagged `run`"),
        ("~~~py\n~~~\n~~~py then\n~~~", "`then` follows one block"),
        ("~~~py run\n~~~\n~~~py then\n~~~\n~~~py then\n~~~", "`then` follows one block"),
        ("~~~py walk\n~~~", "unknown tag"),
    ],
)
def test_refuses_blocks_that_nothing_would_execute(text: str, message: str) -> None:
    problems = [problem for section in sections(page(text)) for problem in section.problems]
    assert any(message in problem.message for problem in problems), problems


def test_what_torch_does_is_said_of_blocks_that_are_executed() -> None:
    for mark in ("raises", "raises: nothing"):
        complaint = told_of(f"# P\n~~~py\nprint(1)  # {mark}\n~~~\n")
        assert complaint.expected == "a block tagged `run`"


def test_a_page_can_be_checked_without_being_executed() -> None:
    text = "# Page\n~~~py run\n1 / 0\n~~~\n"
    assert {one.actual for one in run(text)} == {"ZeroDivisionError: division by zero"}
    assert run(text, executes=False) == []
    assert run(text.replace("1 / 0", "bad = print\nbad(1)"), executes=False)
