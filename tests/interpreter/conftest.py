"""Evaluates a snippet in the analyser alone: no rule listens, and nothing is executed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from textwrap import dedent

import libcst as cst
import pytest

from devicelint.domain.events import Event, Revealed
from devicelint.domain.values import (
    Batch,
    Const,
    DeviceHandle,
    Module,
    OneOf,
    Placed,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.domain.worlds import WITH_ONE, World
from devicelint.interpreter import Program, explore
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.torch.reveal import revealed_device

HEADER = """\
import torch
from torch import nn
cpu = torch.zeros(2)
cuda = torch.zeros(2, device="cuda")
"""

Evaluate = Callable[..., str]


def shown(run: Run, value: Value) -> str:
    """A value in a word: its device, the constant that it is, or the name of its kind."""
    match value:
        case Tensor() | Batch() | Placed() | DeviceHandle():
            return str(value.device).partition(" (")[0]
        case Const(constant):
            return repr(constant)
        case Tuple(items):
            return f"({', '.join(shown(run, item) for item in items)})"
        case OneOf(options):
            return " or ".join(shown(run, option) for option in options)
        case Module(name=name):
            return f"{name} on {revealed_device(run, value)}"
        case Symbolic(origin):
            return origin
        case Unknown():
            return "unknown"
        case _:
            return type(value).__name__


def evaluated(code: str, expressions: Iterable[str], world: World) -> Iterator[str]:
    """What each of the expressions is after the code, on a machine with one accelerator."""
    asked = "".join(f"\nreveal_device({one})" for one in expressions)
    text = f"{HEADER}{dedent(code)}{asked}\n"
    revealed: dict[World, list[str]] = {}

    def listener_for(walked: World) -> Listener:
        heard = revealed[walked] = []

        def listener(event: Event, run: Run) -> None:
            if isinstance(event, Revealed):
                heard.append(shown(run, event.value))

        return listener

    walks = explore(Program(cst.parse_module(text), text), listener_for)
    assert world in {walk.world for walk in walks}
    yield from revealed[world]


@pytest.fixture
def evaluate() -> Evaluate:
    """Give what expressions are after a snippet; a semicolon stands between them.

    `torch` and `nn` are imported there, and `cpu` and `cuda` are tensors.
    """

    def values(code: str, expressions: str, world: World = WITH_ONE) -> str:
        return "; ".join(evaluated(code, expressions.split("; "), world))

    return values
