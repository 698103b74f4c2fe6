"""Which names of a file a device is chosen by: what is done with them says so."""

from __future__ import annotations

from textwrap import dedent

import libcst as cst
import pytest

from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.facts.device_settings import device_settings


def settings(code: str, *, with_branches: bool = False) -> set[str]:
    text = dedent(code)
    return set(device_settings(Program(cst.parse_module(text), text), with_branches))


@pytest.mark.parametrize(
    "code",
    [
        "where = 'cuda' if flag else 'cpu'",
        "where = torch.device(flag)",
        "Kind = torch.cuda.FloatTensor if self.flag() else torch.FloatTensor",
        "torch.cuda.set_device(options.flag)",
        "x = torch.zeros(3, device=config['flag'])",
        "flag = torch.cuda.is_available()",
        "flag = x.is_cuda",
        "flag = pytest.mark.skipif(not torch.cuda.is_available(), reason='none')",
        "other = torch.cuda.is_available() and not flag",
        "where = 'cuda' if other else 'cpu'\nflag = other",
    ],
)
def test_what_is_given_as_a_device_or_worked_out_from_one(code):
    assert "flag" in settings(code)


@pytest.mark.parametrize(
    "code",
    [
        "flag = torch.cuda.device_count()",
        "y = x if flag else z",
        "x = x.to(flag)",
        "flag = torch.zeros(3)",
        "flag = torch.zeros(3, device='cuda').cuda()",
        "flag = path.is_available()",
    ],
)
def test_what_is_not(code):
    assert "flag" not in settings(code, with_branches=True)


def test_a_branch_that_does_nothing_but_move():
    moved = """
    if options.flag:
        model.cuda()
        x, y = x.cuda(), y.cuda()
        print("moved")
    """
    assert settings(moved, with_branches=True) == {"flag"}
    assert not settings(moved)


def test_a_function_of_nothing_is_read_like_an_attribute():
    code = """
    if self.flag():
        x = x.cuda()
    if given(self.other):
        x = x.cuda()
    """
    assert settings(code, with_branches=True) == {"flag", "other"}


def test_a_branch_that_does_more():
    code = """
    if options.flag:
        loss = loss + torch.ones(3).cuda()
    if other:
        model.cuda()
        epochs = 3
    """
    assert not settings(code, with_branches=True)


def test_whether_there_is_something_to_move_is_no_choice():
    code = """
    if x is not None and flag:
        x = x.cuda()
    """
    assert settings(code, with_branches=True) == {"flag"}
