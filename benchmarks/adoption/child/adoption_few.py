"""Ends loops that train: `few_rounds` is a builtin of the scripts."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROUNDS = 3
"""So many rounds, and so many calls of backward, are enough for a loop."""

backwards = [0]


def install() -> None:
    """Let scripts find what their loops were shortened with, and what notebooks take for given."""
    for function in (few_rounds, first_of, display, get_ipython):
        setattr(builtins, function.__name__, function)


def few_rounds(rounds: Iterable[Any]) -> Iterator[Any]:
    """Yield the first rounds of a loop: until it has trained a little."""
    before = backwards[0]
    for count, each in enumerate(rounds):
        if count >= ROUNDS and backwards[0] - before >= ROUNDS:
            return
        yield each


def first_of(tensor: Any) -> Any:
    """Give what `tensor.data[0]` gave when a loss had one element."""
    return tensor[0] if tensor.dim() else tensor.item()


def display(*values: object) -> None:
    """Show values, as a notebook does."""
    for value in values:
        repr(value)


def get_ipython() -> None:
    """Give what a script gets outside of IPython."""


def after_import(torch: Any) -> None:
    """Count the calls of backward, and note where is trained."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    run: Any = torch.autograd._engine_run_backward

    def counted(*args: Any, **kwargs: Any) -> Any:
        backwards[0] += 1
        return run(*args, **kwargs)

    torch.autograd._engine_run_backward = counted
    register_optimizer_step_post_hook(lambda optimizer, *_: _note_trained(optimizer))


def _note_trained(optimizer: Any) -> None:
    """Note on which kinds of device parameters are trained: a loss may be computed elsewhere."""
    marks = sys.modules.get("runtime_guard.virtual.devices.marks")
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            device = parameter.device if marks is None else marks.device_of(parameter)
            (Path(os.environ["EXAMPLES_RECORD"]) / f"{device.type}.device").touch()
