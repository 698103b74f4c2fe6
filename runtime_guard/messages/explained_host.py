"""Errors about what had to be on the CPU: which tensor it is, and where it is brought there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torch import Tensor

from runtime_guard.lines import is_torch
from runtime_guard.messages.explained_line import name_of
from runtime_guard.messages.expressions import (
    running_part,
    tensors_of_arguments,
    tensors_on_line,
)
from runtime_guard.messages.frames import Step, module_of, users_step, whereabouts
from runtime_guard.messages.message import HEAD, headline, places, row
from runtime_guard.messages.naming import named_tensors
from runtime_guard.placement.memory import facts_of

if TYPE_CHECKING:
    from runtime_guard.messages.text import ErrorText

# What ends in `.numpy()`, on one line; a call in it has no more than names and numbers.
_TO_NUMPY = re.compile(
    r"(?P<before>\w[\w.\[\]\"']*(?:\([^()]*\)(?:\.[\w.]+)?)*)\.numpy\((?P<rest>[^()]*)\)"
)


def of_host(steps: list[Step], text: ErrorText) -> str:
    """A tensor is on an accelerator, and had to be on the CPU."""
    step = users_step(steps)
    if step is None:
        return ""
    name, tensor = _for_host(step, steps, text.argument)
    if tensor is None:
        return ""
    where = whereabouts(steps)
    first = f"`{name}` is on {tensor.device}, and has to be on cpu for this"
    if where.module is not None and module_of(step) is where.module:
        first = f"{name_of(where)} has `{name}` on {tensor.device}, and it has to be on cpu"
    lines = [*headline(HEAD + first), *row(name, str(facts_of(tensor)))]
    lines += places(step.written, where.entered_at, where.launched_at)
    return "\n".join([*lines, *row("to fix it", _copy_to_host(step, name, tensor))])


def _for_host(step: Step, steps: list[Step], argument: str) -> tuple[str, Tensor | None]:
    """The tensor that a function of torch has under this name, or else any on an accelerator."""
    named = tensors_on_line(step) or dict(named_tensors(step.frame))
    found = {name: tensor for name, tensor in named.items() if tensor.device.type != "cpu"}
    # Before Python 3.11 the part is the whole line, and some of it may be on the CPU already.
    copied = {name for name in found if _is_copied(name, running_part(step))}
    found = {name: tensor for name, tensor in found.items() if name not in copied}
    for below in steps[steps.index(step) + 1 :]:
        wanted = tensors_of_arguments(below).get(argument) if is_torch(below.file) else None
        if wanted is not None:
            return next((n for n, tensor in found.items() if tensor is wanted), argument), wanted
    return next(iter(found.items()), ("", None))


def _is_copied(name: str, part: str) -> bool:
    befores = [match["before"] for match in _TO_NUMPY.finditer(part)]
    own = [before for before in befores if re.match(rf"{re.escape(name)}(?!\w)", before)]
    return bool(own) and all(".cpu()" in before for before in own)


def _copy_to_host(step: Step, name: str, tensor: Tensor) -> str:
    part = running_part(step)
    detached = "" if ".detach()" in part or not tensor.requires_grad else ".detach()"
    old, new = name, f"{name}{detached}.cpu()"
    for match in _TO_NUMPY.finditer(part):
        # Since Python 3.12 the variable of a comprehension is gone when its error is explained.
        if name in match["before"] or name not in part:
            old = match[0]
            new = f"{match['before']}{detached}.cpu().numpy({match['rest']})"
    return f"write `{new}` in place of `{old}` at {step.written.place}"
