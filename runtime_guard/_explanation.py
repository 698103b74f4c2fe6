"""What an error about devices means in the program that raised it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torch import Tensor, nn

from runtime_guard._advice import advise
from runtime_guard._check import Fault, find_faults
from runtime_guard._describe import describe
from runtime_guard._distributed import rank_and_host
from runtime_guard._expressions import tensors_of_arguments, tensors_on_line
from runtime_guard._frames import (
    Step,
    Whereabouts,
    call_of,
    module_of,
    steps_of_traceback,
    whereabouts,
)
from runtime_guard._lines import is_internal, is_library, is_plumbing, is_torch, line_at
from runtime_guard._message import MOST, places, render, row
from runtime_guard._mismatch import Mismatch
from runtime_guard._naming import named_tensors
from runtime_guard._own import is_of_torch, own_tensors
from runtime_guard._placement_memory import facts_of
from runtime_guard._remote import is_remote, of_another_process

if TYPE_CHECKING:
    from runtime_guard._text import Text

_MOST_TENSORS = 6
_MET = "tensors on two devices met; which ones cannot be seen from here"


def explanation(error: BaseException, text: Text) -> str:
    """Say which tensors, in which module or function, since which line, and what to write."""
    steps = steps_of_traceback(error.__traceback__)
    if is_remote(error):
        return of_another_process(str(error), steps, text)
    if text.kind == "mix":
        return _of_module(steps) or _of_function(steps) or _of_line(steps, text)
    if text.kind == "host":
        return _of_host(steps, text) or _of_line(steps, text)
    return _of_line(steps, text)


def _of_module(steps: list[Step]) -> str:
    """The innermost module was given, or has, a tensor on another device than its own."""
    module = whereabouts(steps).module
    call = call_of(steps, module) if module is not None else None
    if module is None or call is None:
        return ""
    faults = find_faults(module, *call, meta=True) or tuple(_own_faults(module))
    return render([describe(fault, module, steps) for fault in faults])


def _own_faults(module: nn.Module) -> Iterator[Fault]:
    """One of torch's own modules has its tensors on several devices."""
    own = [(anchor, tensor) for anchor, tensor in own_tensors(module) if tensor.dim()]
    if not is_of_torch(module) or not own:
        return
    home_anchor, home = min(own, key=lambda item: item[1].device.type == "cpu")
    for anchor, tensor in own:
        if tensor.device != home.device:
            yield Fault(anchor, tensor, home.device, home_anchor)


def _of_function(steps: list[Step]) -> str:
    """Tensors on two devices met in a function of torch's, or on a line of the user's."""
    where = whereabouts(steps)
    if where.failing is None:
        return ""
    below = [step for step in steps[steps.index(where.failing) + 1 :] if is_torch(step.file)]
    functions = [(step, tensors_of_arguments(step)) for step in below]
    mixed = [(step, tensors) for step, tensors in functions if _devices(tensors) > 1]
    public = [(step, tensors) for step, tensors in mixed if not is_internal(step.file)]
    for step, tensors in public:
        return _of_tensors(where, f"{step.frame.f_code.co_name}()", "argument", tensors)
    for tensors in (tensors_on_line(where.failing), dict(named_tensors(where.failing.frame))):
        if _devices(tensors) > 1:
            return _of_tensors(where, _name_of(where), "variable", tensors)
    for step, tensors in mixed:
        return _of_tensors(where, f"{step.frame.f_code.co_name}()", "argument", tensors)
    return ""


def _devices(tensors: dict[str, Tensor]) -> int:
    return len({tensor.device for tensor in tensors.values()})


def _name_of(where: Whereabouts) -> str:
    """What a message calls the code that failed: the module, or else the function."""
    module, step = where.module, where.failing
    if step is None or module is None or module_of(step) is not module:
        function = where.failed_at.function if where.failed_at else "<module>"
        return "this line" if function == "<module>" else f"{function}()"
    kind = type(module).__name__
    return f"{where.path} ({kind})" if where.path else kind


def _of_tensors(where: Whereabouts, name: str, kind: str, tensors: dict[str, Tensor]) -> str:
    """Those on the CPU are out of place where any is elsewhere: 0-dim ones, only if no other is."""
    home_name, home = min(tensors.items(), key=lambda item: item[1].device.type == "cpu")
    strays = {path: each for path, each in tensors.items() if each.device != home.device}
    strays = {path: each for path, each in strays.items() if each.dim()} or strays
    anchor = _announced(kind, home_name)
    told: list[Mismatch] = []
    for path, tensor in strays.items():
        fault = Fault(_announced(kind, path), tensor, home.device, anchor)
        if len(told) < MOST:
            told.append(_mismatch(name, fault, where, advise(fault, where)))
        else:
            told.append(replace(told[0], argument=fault.argument, tensor=facts_of(tensor)))
    return "\n".join([render(told), *_by_device(where.failing)])


def _announced(kind: str, path: str) -> str:
    if path.startswith("self."):
        kind = "attribute"
    return f"{kind} '{path}'" if path.isidentifier() else f"{kind} `{path}`"


def _mismatch(name: str, fault: Fault, where: Whereabouts, advice: str) -> Mismatch:
    return Mismatch(
        module="",
        module_class=name,
        argument=fault.argument,
        tensor=facts_of(fault.tensor),
        expected=str(fault.expected),
        anchor=fault.anchor,
        failed_at=where.failed_at,
        entered_at=where.entered_at,
        launched_at=where.launched_at,
        advice=advice,
        rank=rank_and_host(),
    )


def _by_device(step: Step | None) -> Iterator[str]:
    """The tensors of a frame, device by device, those that the failing line names first."""
    if step is None:
        return
    named = [*tensors_on_line(step).items(), *named_tensors(step.frame)]
    found: dict[str, dict[int, str]] = {}
    for name, tensor in named:
        if not name.startswith("_"):
            found.setdefault(str(tensor.device), {}).setdefault(id(tensor), name)
    for device, names in found.items():
        told = list(names.values())
        more = f" and {len(told) - _MOST_TENSORS} more" if len(told) > _MOST_TENSORS else ""
        yield from row(f"on {device}", ", ".join(told[:_MOST_TENSORS]) + more)


def _of_host(steps: list[Step], text: Text) -> str:
    """A tensor is on an accelerator, and had to be on the CPU."""
    step = _users(steps)
    if step is None:
        return ""
    name, tensor = _for_host(step, steps, text.argument)
    if tensor is None:
        return ""
    where = whereabouts(steps)
    line = line_at(step.frame, step.line)
    attached = tensor.requires_grad and ".detach()" not in line.text
    detached = f"{name}.detach()" if attached else name
    advice = f"write `{detached}.cpu()` in place of `{name}` at {line.file}:{line.line}"
    headline = f"`{name}` is on {tensor.device}, and has to be on cpu for this"
    if where.module is not None and module_of(step) is where.module:
        headline = f"{_name_of(where)} has `{name}` on {tensor.device}, and it has to be on cpu"
    lines = [headline, *row(name, str(facts_of(tensor)))]
    lines += places(line, where.entered_at, where.launched_at)
    return "\n".join([*lines, *row("to fix it", advice)])


def _for_host(step: Step, steps: list[Step], argument: str) -> tuple[str, Tensor | None]:
    """The tensor that a function of torch has under this name, or else any on an accelerator."""
    named = tensors_on_line(step) or dict(named_tensors(step.frame))
    found = {name: tensor for name, tensor in named.items() if tensor.device.type != "cpu"}
    for below in steps[steps.index(step) + 1 :]:
        wanted = tensors_of_arguments(below).get(argument) if is_torch(below.file) else None
        if wanted is not None:
            return next((n for n, tensor in found.items() if tensor is wanted), argument), wanted
    return next(iter(found.items()), ("", None))


def _of_line(steps: list[Step], text: Text) -> str:
    """What can be said where no tensor can be seen: the line, and what such errors come from."""
    lines = [text.advice or _MET]
    step = _users(steps)
    if step is not None:
        where = whereabouts(steps)
        lines += places(line_at(step.frame, step.line), where.entered_at, where.launched_at)
        if text.kind == "mix":
            lines += _by_device(step)
    return "\n".join(lines)


def _users(steps: list[Step]) -> Step | None:
    """The innermost step in the user's own code, or else outside torch."""
    outside = [step for step in reversed(steps) if not is_plumbing(step.file)]
    own = (step for step in outside if not is_library(step.file))
    return next(own, outside[0] if outside else None)
