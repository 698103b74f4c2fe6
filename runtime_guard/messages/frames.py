"""Turns a live stack, or a traceback, into the modules and lines that a message names.

What it returns holds frames, and they hold everything the program was working on: let go of it
before you return. Nothing of it is kept here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import CO_OPTIMIZED, CO_VARARGS, CO_VARKEYWORDS
from itertools import pairwise
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from torch import nn

from runtime_guard.check.own import modules_of
from runtime_guard.lines import is_library, is_plumbing, is_torch, is_users, line_at
from runtime_guard.mismatch import Line

_CALLS = frozenset({"_call_impl", "_wrapped_call_impl"})
# Where torch hands a call to a mode (`torch.set_default_device` is one) or to a subclass of Tensor.
_INTERCEPTORS = frozenset({"handle_torch_function", "__torch_function__", "__torch_dispatch__"})


class Step(NamedTuple):
    """A frame and where it stands; `instruction` is the part of a line, -1 if unknown."""

    frame: FrameType
    line: int
    instruction: int = -1

    @property
    def file(self) -> str:
        """The file of the code that runs, as Python has it."""
        return self.frame.f_code.co_filename

    @property
    def written(self) -> Line:
        """The line of source that runs."""
        return line_at(self.frame, self.line)


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where in a program a module was called, or something failed.

    Attributes:
        root: the model: the given one, or the outermost module that was called.
        module: the module that failed: the given one, or the innermost that was running.
        path: the way from `root` to `module`, as `named_modules` has it. Wrappers are modules
            too: in a model wrapped by DDP it begins with `module.`, as the keys of its state do.
        failed_at: the innermost line outside torch.
        entered_at: the line outside torch that called the model.
        launched_at: the user's own line, where `entered_at` lies in an installed library.
        failing: the step of `failed_at`.
        entry: the step of `entered_at`.
        inside: the steps from `entry` inwards; all of them where no model was called.
    """

    root: nn.Module | None
    module: nn.Module | None
    path: str
    failed_at: Line | None
    entered_at: Line | None
    launched_at: Line | None
    failing: Step | None
    entry: Step | None
    inside: tuple[Step, ...]


def steps_of_stack(frame: FrameType | None) -> list[Step]:
    """The frames that lead to this one and it, outermost first."""
    steps = []
    while frame is not None:
        steps.append(Step(frame, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return _without_interceptors(steps[::-1])


def steps_of_traceback(traceback: TracebackType | None) -> list[Step]:
    """The frames an exception has passed, outermost first.

    Where it was caught in a frame that still runs, those around it come before: a training loop
    of a library catches what it was asked to run, and the user's line is further out.
    """
    steps = []
    if traceback is not None and _is_running(traceback.tb_frame):
        steps = steps_of_stack(traceback.tb_frame.f_back)
    while traceback is not None:
        steps.append(Step(traceback.tb_frame, traceback.tb_lineno, traceback.tb_lasti))
        traceback = traceback.tb_next
    return _without_interceptors(steps)


def _without_interceptors(steps: list[Step]) -> list[Step]:
    """The steps, but for those of a mode: the call it was handed failed where it was written.

    A module that runs further in, since a backward pass recomputes it, is the program's again.
    """
    kept, is_inside = [], False
    for step in steps:
        if step.frame.f_code.co_name in _INTERCEPTORS:
            is_inside = True
        elif is_inside and _is_call(step):
            is_inside = False
        if not is_inside:
            kept.append(step)
    return kept or steps


def _is_running(wanted: FrameType) -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not wanted:
        frame = frame.f_back
    return frame is wanted


def values_of(frame: FrameType) -> dict[str, Any]:
    """The frame's local variables, those of the enclosing functions that it uses among them.

    Before Python 3.13 asking for them leaves a copy in the frame, which would keep a batch alive
    for as long as the training loop runs; it is emptied again, unless somebody else holds it.
    """
    found = frame.f_locals
    values = dict(found)
    copied = sys.version_info < (3, 13) and frame.f_code.co_flags & CO_OPTIMIZED
    # The frame's own reference, `found`, and the argument of getrefcount.
    if copied and sys.getrefcount(found) <= 3:
        found.clear()
    return values


def whereabouts(
    steps: list[Step], root: nn.Module | None = None, module: nn.Module | None = None
) -> Whereabouts:
    """Find the model, the module in it and the lines that a message names.

    Args:
        steps: a stack or a traceback, outermost first.
        root: the model, where it is known; otherwise the outermost module that was called.
        module: the module that failed, where it is known.
    """
    running = _running(steps, root, module)
    failed = running[-1][1] if module is None and running else module
    # A module may have a length, and be false: it is compared with None everywhere.
    top = running[0][1] if root is None and running else root
    first = _entered(steps, running)
    failing = _last(steps, _is_code_of_callers) or (steps[-1] if steps else None)
    entry = _last(steps[:first], _is_code_of_callers) if running else None
    launch = _last(steps[:first], is_users) if entry and is_library(entry.file) else None
    return Whereabouts(
        root=top,
        module=failed,
        path=_path([found for _, found in running], failed, top),
        failed_at=_line(failing),
        entered_at=_line(entry),
        launched_at=_line(launch),
        failing=failing,
        entry=entry,
        inside=tuple(steps[steps.index(entry) :] if entry else steps),
    )


def _running(
    steps: list[Step], root: nn.Module | None, module: nn.Module | None
) -> list[tuple[int, nn.Module]]:
    """The modules whose methods are running, outermost first, from the root inwards if it is."""
    modules = [(index, module_of(step)) for index, step in enumerate(steps)]
    running = [(index, found) for index, found in modules if found is not None]
    if module is not None and all(found is not module for _, found in running):
        running.append((len(steps), module))  # It is about to be called.
    start = next((place for place, (_, found) in enumerate(running) if found is root), 0)
    return running[start:]


def _entered(steps: list[Step], running: list[tuple[int, nn.Module]]) -> int:
    """The first step of the model that was entered: any of its methods enters it.

    Where a library runs one of the user's (Lightning: `training_step`), that is training code, and
    the model is entered where it calls a module.
    """
    if not running:
        return len(steps)
    first = running[0][0]
    calls = (index for index, _ in running if index == len(steps) or _is_call(steps[index]))
    caller = _last(steps[:first], _is_code_of_callers)
    return next(calls, first) if caller and is_library(caller.file) else first


def module_of(step: Step) -> nn.Module | None:
    """The module whose method, or whose call, this step is in.

    A function that only takes a module first (`train(model, loader)`) is not a module's.
    """
    code = step.frame.f_code
    if not code.co_argcount:
        return None
    name = code.co_varnames[0]
    if name != "self" and not _is_call(step):
        return None
    value = values_of(step.frame).get(name)
    # Not isinstance: it would ask a stranger for its __class__, which may do anything.
    return value if issubclass(type(value), nn.Module) else None


def _is_call(step: Step) -> bool:
    return step.frame.f_code.co_name == "forward" or _is_call_of_torch(step)


def _is_call_of_torch(step: Step) -> bool:
    return step.frame.f_code.co_name in _CALLS and is_torch(step.file)


def call_of(steps: list[Step], module: nn.Module) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of the innermost call of this module; None where none is running."""
    forward = None
    for step in reversed(steps):
        if _is_call(step) and module_of(step) is module:
            if _is_call_of_torch(step):
                values = values_of(step.frame)
                return values.get("args", ()), values.get("kwargs", {})
            forward = forward or step
    return _arguments(forward.frame) if forward else None


def _arguments(frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The present values of a method's arguments, after `self`: those of the call may be gone."""
    code, values = frame.f_code, values_of(frame)
    rest = code.co_varnames[code.co_argcount :]
    named, others = rest[: code.co_kwonlyargcount], list(rest[code.co_kwonlyargcount :])
    args = [values.get(name) for name in code.co_varnames[1 : code.co_argcount]]
    kwargs = {name: values.get(name) for name in named}
    if code.co_flags & CO_VARARGS:
        args += values.get(others.pop(0), ())
    if code.co_flags & CO_VARKEYWORDS:
        kwargs |= values.get(others.pop(0), {})
    return tuple(args), kwargs


def path_of(module: nn.Module | None, root: nn.Module | None) -> str:
    """The path of a module from `root`, also in plain lists (`layers[0]`); empty if not found.

    A replica made by DataParallel shares the dictionary of its hooks with the original.
    """
    if module is None or root is None:
        return ""
    hooks = vars(module).get("_forward_hooks") if vars(module).get("_is_replica") else None
    alike = ""
    for path, other in modules_of(root):
        if other is module:
            return path
        if hooks is not None and vars(other).get("_forward_hooks") is hooks:
            alike = alike or path
    return alike


def _path(running: list[nn.Module], module: nn.Module | None, root: nn.Module | None) -> str:
    """The path along the modules that were called: one that is shared has several paths."""
    if module is None or module is root:
        return ""
    along = running if running and running[-1] is module else [*running, module]
    if along[0] is root:
        pairs = [pair for pair in pairwise(along) if pair[0] is not pair[1]]
        names = [path_of(child, parent) for parent, child in pairs]
        if all(names):
            return ".".join(names)
    return path_of(module, root)


def _last(steps: list[Step], wanted: Callable[[str], bool]) -> Step | None:
    return next((step for step in reversed(steps) if wanted(step.file)), None)


def _is_code_of_callers(file: str) -> bool:
    return not is_plumbing(file)


def users_step(steps: list[Step]) -> Step | None:
    """The innermost step in the user's own code, or else outside torch."""
    return _last(steps, is_users) or _last(steps, _is_code_of_callers)


def _line(step: Step | None) -> Line | None:
    return step.written if step else None
