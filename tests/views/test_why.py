"""`devicelint why FILE:LINE`: the steps that led the values of a line to their devices."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from devicelint.cli import main


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**files: str) -> None:
        for name, text in files.items():
            Path(f"{name}.py").write_text(dedent(text).lstrip(), encoding="utf-8")

    return write


def told(place, capsys) -> list[str]:
    assert main(["why", place]) == 0
    out: str = capsys.readouterr().out
    return out.splitlines()


def test_each_step_is_told_in_its_order_and_with_its_file(project, capsys):
    project(
        data="""
            import torch

            def batch():
                return torch.zeros(4, 3)
            """,
        train="""
            import torch
            from data import batch

            x = batch()
            y = x.to("cuda:1")
            print(y)
            """,
    )
    assert told("train.py:6", capsys)[:4] == [
        "train.py:6: print(y)",
        "  y: cuda:1  with an accelerator and with several accelerators",
        "    data.py:4:12: created on cpu here",
        "    train.py:5:5: moved to cuda:1 here",
    ]


def test_where_the_machine_decides_it_is_named(project, capsys):
    project(
        train="""
            import torch

            device = "cuda" if torch.cuda.is_available() else "cpu"
            x = torch.ones(3, device=device)
            print(x)
            """
    )
    assert told("train.py:5", capsys)[1:] == [
        "  x: cuda  with an accelerator",
        "    train.py:4:5: created on cuda here by its device argument",
    ]


def test_the_calls_that_handed_a_value_on_are_told(project, capsys):
    project(
        train="""
            import torch

            def outer(a):
                return inner(a)

            def inner(b):
                return b

            outer(torch.zeros(2))
            """
    )
    assert told("train.py:7", capsys) == [
        "train.py:7: return b",
        "  b: cpu  with an accelerator",
        "    train.py:9:7: created on cpu here",
        "    train.py:9:7: passed to outer() here",
        "    train.py:4:18: passed to inner() here",
    ]


def test_what_is_not_understood_says_why(project, capsys):
    project(
        train="""
            import somewhere

            x = somewhere.table()
            print(x)
            """
    )
    assert told("train.py:4", capsys) == [
        "train.py:4: print(x)",
        "  x: unknown (somewhere.table is not known)  with an accelerator",
    ]


def test_a_line_without_values_says_so(project, capsys):
    project(train="import torch\n\n\nx = torch.ones(3)\n")
    assert told("train.py:2", capsys) == [
        "train.py:2: ",
        "  no value on this line has a known device, or no path reaches it",
    ]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("train.py", 'devicelint: "train.py" is not a file and the number of a line: FILE:LINE\n'),
        (
            "train.py:0",
            'devicelint: "train.py:0" is not a file and the number of a line: FILE:LINE\n',
        ),
        ("train.py:99", "train.py:99:1: the file has 1 line\n"),
        ("missing.py:1", "missing.py:1:1: no such file or directory\n"),
    ],
)
def test_a_place_that_is_none_is_one_line(project, capsys, place, message):
    project(train="x = 1\n")
    assert main(["why", place]) == 2
    assert capsys.readouterr().err == message
