"""What a Module computes with: what it owns, and what torch or a trainer calls it with."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import DeviceOf
from devicelint.domain.values import Module
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.host_callers import TRAINED, library_bases
from devicelint.interpreter.facts.item_paths import root_of

_CALLED = frozenset({"forward", "__call__"})
_STEPS = frozenset({"training_step", "validation_step", "test_step", "predict_step"})


def called_module(func: cst.BaseExpression) -> cst.BaseExpression:
    """The expression that is the Module of a call: `net`, of `net(x)` and of `net.forward(x)`."""
    if isinstance(func, cst.Attribute) and func.attr.value in _CALLED and not _is_super(func.value):
        return func.value
    return func


def name_of(run: Run, func: cst.BaseExpression) -> str:
    """What a message calls the Module of a call; that of `super().forward(x)` is `self`."""
    module = called_module(func)
    if isinstance(module, cst.Attribute) and module.attr.value in _CALLED:
        return "self"
    return run.code_of(module)


def _is_super(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == "super"
    )


def is_called_through(outer: Frame, inner: Frame) -> bool:
    """Whether a frame is that of a Module, or of a method of the Module that it calls."""
    return outer.module is not None or (inner.module is not None and outer.receiver == inner.module)


def is_being_made(run: Run, owner: Module) -> bool:
    """Whether this happens in the `__init__` of a Module, or in what that calls."""
    for frame in run.frame.outwards():
        node = frame.node
        if isinstance(node, cst.FunctionDef) and node.name.value == "__init__":
            return frame.receiver == owner
    return False


def is_in_module(run: Run) -> bool:
    """Whether this is reached from a method of a Module."""
    return any(isinstance(frame.receiver, Module) for frame in run.frame.outwards())


def is_input_of_module(run: Run, device: DeviceOf) -> bool:
    """Whether a caller's device is that of a Module, or of what it is called with.

    Other methods of it are called with whatever their callers have, as functions are.
    """
    if root_of(device.place) == "self":
        return is_in_module(run)
    return any(is_call_of_module(run, frame) for frame in run.frame.outwards())


def is_call_of_module(run: Run, frame: Frame) -> bool:
    """Whether the frame is that of a Module that was called, or that its trainer calls."""
    if not isinstance(frame.receiver, Module):
        return False
    if frame.module is not None or frame.name in _CALLED:
        return True
    return frame.name in _STEPS and any(base in TRAINED for base in library_bases(run, frame))
