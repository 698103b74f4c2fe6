"""Calls that go wrong, and what is advised about them."""

import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from runtime_guard.check.verdict import find_faults
from runtime_guard.messages.describe import describe
from runtime_guard.messages.frames import steps_of_traceback

META = "meta"
ROOT = Path(__file__).parents[2]


def place(text: str, function) -> str:
    """Where the first line of a function that has this text stands, as advice names it."""
    lines, first = inspect.getsourcelines(function)
    number = next(number for number, line in enumerate(lines, first) if text in line)
    file = Path(inspect.getfile(function)).relative_to(ROOT)
    return f"{file.as_posix()}:{number}"


class Wrong(Exception):
    """A call with tensors on the wrong device."""

    def __init__(self, module, faults):
        self.module, self.faults = module, faults


def refuse(module, args, kwargs):
    """A guard in short: what it found goes up as an exception, whose traceback is the stack."""
    faults = find_faults(module, args, kwargs, meta=True)
    if faults:
        raise Wrong(module, faults)


def guarded(model: nn.Module) -> nn.Module:
    """The model, which refuses to be called with a tensor on the wrong device."""
    for module in model.modules():
        module.register_forward_pre_hook(refuse, with_kwargs=True)
    return model


def advice_of(function, *args) -> list[str]:
    """What is advised about the call that the guard refuses."""
    with pytest.raises(Wrong) as caught:
        function(*args)
    steps = steps_of_traceback(caught.value.__traceback__)[:-1]  # Without the guard's own.
    return [describe(fault, caught.value.module, steps).advice for fault in caught.value.faults]


def library(tmp_path, source: str) -> Any:
    """A module of an installed package."""
    folder = tmp_path / "site-packages" / "some_trainer"
    folder.mkdir(parents=True)
    file = folder / "loop.py"
    file.write_text(source)
    spec: Any = importlib.util.spec_from_file_location("loop", file)
    loop = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loop)
    return loop


def linear() -> nn.Module:
    return guarded(nn.Linear(3, 3).to(META))
