"""Finds the line of a running function that made a tensor without saying on which device."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime_guard.lines import source_above

if TYPE_CHECKING:
    from runtime_guard.messages.frames import Step
    from runtime_guard.mismatch import Line

_FACTORIES = (
    "arange|as_tensor|empty|eye|from_numpy|full|hamming_window|hann_window|linspace|logspace|normal"
    "|ones|rand|randint|randn|randperm|scalar_tensor|tensor|tril_indices|triu_indices|zeros"
)
_FACTORY = re.compile(rf"\btorch\.(?:{_FACTORIES}|(?:Bool|Byte|Double|Float|Int|Long)?Tensor)\(")
_MOVES = ("device=", ".to(", ".cuda(")
# `mask = torch.ones(len(x), 4)`, of which a last argument can be added before the end.
_WHOLE_CALL = re.compile(
    r"[\w.]+\s*=\s*torch\.(?!from_numpy)[a-z_]+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
)
_FAR = 500
"""So many lines above the failing one are read."""


def is_factory(name: str) -> bool:
    """Whether it is how a function of torch's that makes tensors is written."""
    return _FACTORY.fullmatch(f"{name}(") is not None


def creation(step: Step, names: list[str]) -> Line | None:
    """The line, at or above the present one, at which a factory of torch made a tensor.

    Args:
        step: where the tensor is used.
        names: the variables that hold it there; without any, it is made on the line itself.
    """
    if not names:
        here = step.written
        return here if _makes(here.text) else None
    above = source_above(step.frame, step.line)[:_FAR]
    for name in names:
        binds, assigns = _binding(name), re.compile(rf"{re.escape(name)}\s*=[^=]")
        line = next((line for line in above if binds.match(line.text)), None)
        if line is not None and assigns.match(line.text) and _makes(line.text):
            return line
    return None


def moved_above(step: Step, name: str) -> bool:
    """Whether the last line above that gave a variable its value called its `to`."""
    binds, moves = _binding(name), re.compile(rf"{re.escape(name)}\s*=.*\.(?:to|cuda)\(")
    above = source_above(step.frame, step.line)[1:_FAR]
    last = next((line for line in above if binds.match(line.text)), None)
    return last is not None and moves.match(last.text) is not None


def is_bound_after(step: Step, name: str, other: str) -> bool:
    """Whether the function itself gives a variable its value after it has given another its own."""
    above = source_above(step.frame, step.line)[1:_FAR]
    last = next((at for at, line in enumerate(above) if _binding(name).match(line.text)), None)
    first = [at for at, line in enumerate(above) if _binding(other).match(line.text)]
    return last is not None and bool(first) and last < first[-1]


def with_device(line: Line, device: str) -> str:
    """What to write in place of a line that makes a tensor, or in it where that is involved."""
    if _WHOLE_CALL.fullmatch(line.text):
        return f"`{line.text[:-1]}, device={device})`"
    return f"`device={device}` in the call that makes it,"


def _binding(name: str) -> re.Pattern[str]:
    """Any statement that gives a variable its value: an assignment, a loop, a `with`."""
    word = rf"(?<![\w.]){re.escape(name)}(?!\w)"
    return re.compile(
        rf"(?:async )?for\b.*{word}.*\bin\b|[^=#]*{word}[^=(#]*=[^=]|.*\bas {re.escape(name)}\b"
    )


def _makes(text: str) -> bool:
    return _FACTORY.search(text) is not None and not any(move in text for move in _MOVES)
