"""What an error about devices means in the program that raised it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torch import Tensor, nn

from runtime_guard.check.own import is_of_torch, own_tensors
from runtime_guard.check.verdict import Fault, find_faults
from runtime_guard.lines import is_internal, is_torch
from runtime_guard.messages.advice import advise
from runtime_guard.messages.advice_model import lone_tensor
from runtime_guard.messages.describe import describe, mismatch_at
from runtime_guard.messages.explained_generator import advice_on_generator
from runtime_guard.messages.explained_host import of_host
from runtime_guard.messages.explained_line import announced, by_device, name_of, of_unnamed
from runtime_guard.messages.explained_model import of_model
from runtime_guard.messages.expressions import tensors_of_arguments, tensors_on_line
from runtime_guard.messages.frames import (
    Step,
    Whereabouts,
    call_of,
    steps_of_traceback,
    users_step,
    whereabouts,
)
from runtime_guard.messages.message import HEAD, MOST, headline, places, render
from runtime_guard.messages.naming import named_tensors
from runtime_guard.messages.remote import is_remote, line_of_traced, of_another_process
from runtime_guard.placement.memory import facts_of

if TYPE_CHECKING:
    from runtime_guard.messages.text import ErrorText
    from runtime_guard.mismatch import Line, Mismatch

_TRACED = "tensors on two devices met in what torch.compile compiles: without it, this names them"
_MET = "tensors on two devices met; which ones cannot be seen from here"


def explanation(error: BaseException, text: ErrorText) -> str:
    """Say which tensors, in which module or function, since which line, and what to write."""
    steps = steps_of_traceback(error.__traceback__)
    if is_remote(error):
        return of_another_process(str(error), steps, text)
    if text.kind == "mix":
        traced = line_of_traced(str(error))
        if traced is not None:
            return _of_module(steps) or _of_line(steps, text, traced)
        return _of_module(steps) or _of_function(steps) or _of_line(steps, text)
    if text.kind == "host":
        return of_host(steps, text) or _of_line(steps, text)
    if text.kind == "model":
        return of_model(steps, text) or _of_line(steps, text)
    if text.kind == "generator":
        text = replace(text, advice=advice_on_generator(str(error), steps) or text.advice)
    return _of_line(steps, text)


def _of_module(steps: list[Step]) -> str:
    """The innermost module was given, or has, a tensor on another device than its own."""
    module = whereabouts(steps).module
    call = call_of(steps, module) if module is not None else None
    if module is None or call is None:
        return ""
    faults = find_faults(module, *call, meta=True) or tuple(_own_faults(module))
    return render([describe(fault, module, steps) for fault in faults], HEAD)


def _own_faults(module: nn.Module) -> Iterator[Fault]:
    """One of torch's own modules has its tensors on several devices: the fewest are wrong."""
    own = [(anchor, tensor) for anchor, tensor in own_tensors(module) if tensor.dim()]
    if not is_of_torch(module) or not own:
        return
    devices = [tensor.device for _, tensor in own]
    home_anchor, home = max(
        own, key=lambda item: (devices.count(item[1].device), item[1].device.type != "cpu")
    )
    for anchor, tensor in own:
        if tensor.device != home.device:
            yield Fault(anchor, tensor, home.device, home_anchor)


def _of_function(steps: list[Step]) -> str:
    """Tensors on two devices met in a function of torch's, or on a line of the user's."""
    where = whereabouts(steps)
    if where.failing is None:
        return ""
    for step in steps[steps.index(where.failing) + 1 :]:
        tensors = tensors_of_arguments(step)
        if is_torch(step.file) and not is_internal(step.file) and _devices(tensors) > 1:
            return _of_tensors(where, f"{step.frame.f_code.co_name}()", "argument", tensors)
    tensors = tensors_on_line(where.failing)
    if _devices(tensors) > 1:
        return _of_tensors(where, name_of(where), "variable", tensors)
    return of_unnamed(where, tensors)


def _devices(tensors: dict[str, Tensor]) -> int:
    return len({tensor.device for tensor in tensors.values()})


def _of_tensors(where: Whereabouts, name: str, kind: str, tensors: dict[str, Tensor]) -> str:
    """Those on the CPU are out of place where any is elsewhere: 0-dim ones, only if no other is.

    Before any of them, the one tensor of the model that is not where the rest of it is.
    """
    lone = lone_tensor(where.root)
    alone = lone.tensor if lone else None
    home_name, home = min(
        tensors.items(), key=lambda item: (item[1] is alone, item[1].device.type == "cpu")
    )
    strays = {path: each for path, each in tensors.items() if each.device != home.device}
    strays = {path: each for path, each in strays.items() if each.dim()} or strays
    anchor = announced(kind, home_name)
    reported: list[Mismatch] = []
    for path, tensor in strays.items():
        argument = lone.anchor if lone and tensor is alone else announced(kind, path)
        fault = Fault(argument, tensor, home.device, anchor)
        if len(reported) < MOST:
            reported.append(mismatch_at(where, "", name, fault, advise(fault, where)))
        else:
            reported.append(replace(reported[0], argument=fault.argument, tensor=facts_of(tensor)))
    on_line = tensors_on_line(where.failing) if where.failing else {}
    return "\n".join([render(reported, HEAD), *by_device(on_line.items())])


def _of_line(steps: list[Step], text: ErrorText, traced: Line | None = None) -> str:
    """What can be said where no tensor can be seen: the line, and what such errors come from."""
    lines = list(headline(HEAD + (text.advice or (_TRACED if traced else _MET))))
    step = users_step(steps)
    if step is not None:
        where, line = whereabouts(steps), step.written
        entered = where.entered_at or (line if traced else None)
        lines += places(traced or line, entered, where.launched_at)
        if text.kind == "mix":
            others = () if traced else named_tensors(step.frame)
            lines += by_device([*tensors_on_line(step).items(), *others])
    return "\n".join(lines)
