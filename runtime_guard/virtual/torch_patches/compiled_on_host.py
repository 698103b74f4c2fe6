"""Compiled code that meets only tensors of the CPU: it runs as it does outside the block.

What such code is given, holds and names is looked at before each call. Where something of it lies
on a device, its Python runs instead.
"""

from __future__ import annotations

import functools
import inspect
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn
from torch._dynamo import eval_frame
from torch._ops import OpOverload, OpOverloadPacket
from torch.utils._pytree import tree_leaves

from runtime_guard.virtual.devices.marks import any_on_device
from runtime_guard.virtual.dispatch.mode import in_effect
from runtime_guard.virtual.notices import once
from runtime_guard.virtual.torch_patches.unseeing import unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMPILED: Final = "torch.compile runs eagerly here; the compiled path is not tested"

_DEEPEST: Final = 3
"""How many functions deep it is looked for what a function names."""

_OPERATORS: Final = (OpOverload, OpOverloadPacket, BuiltinFunctionType)
"""What holds nothing."""

_UNKNOWN: Final = object()
"""In the place of what is held, where that cannot be told."""


def choosing(given: Any, made: Any, compiled: Callable[[], Any], stance: Any) -> Any:
    """What torch.compile made, which is compiled where it meets tensors of the CPU alone.

    Args:
        given: what is to be compiled.
        made: what torch.compile made of it, which runs its Python.
        compiled: makes what runs compiled.
        stance: the stance of torch outside the block.
    """
    truly = functools.cache(compiled)
    is_module = isinstance(made, eval_frame.OptimizedModule)
    python = made.forward if is_module else made

    @functools.wraps(python)
    def call(*args: Any, **kwargs: Any) -> Any:
        if in_effect() and _is_of_the_host(given, args, kwargs):
            try:
                with unseen(), as_outside(stance):
                    return truly()(*args, **kwargs)
            except Exception as error:
                # It may ask for a device inside, of which torch knows nothing here.
                if "cuda" not in str(error).lower():
                    raise
        if in_effect():
            once("compile", COMPILED)
        return python(*args, **kwargs)

    if not is_module:
        return call
    made.forward = call
    return made


@contextmanager
def as_outside(stance: Any) -> Iterator[None]:
    """Let torch compile, as outside the block."""
    eager, eval_frame._stance = eval_frame._stance, stance
    try:
        yield
    finally:
        eval_frame._stance = eager


def _is_of_the_host(given: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether there are tensors, and all of them lie on the CPU."""
    with torch._C.DisableTorchFunction():
        found = [*tree_leaves((args, kwargs)), *_held(given, _DEEPEST)]
    known = not any(one is _UNKNOWN for one in found)
    return known and any(isinstance(one, Tensor) for one in found) and not any_on_device(found)


def _held(given: Any, depth: int) -> Iterator[Any]:
    """The tensors that a module or a function holds, or names."""
    if isinstance(given, eval_frame.OptimizedModule):
        yield from _held(given._orig_mod, depth)
    elif isinstance(given, nn.Module):
        for part in given.modules():
            values = (*vars(part).values(), *part._parameters.values(), *part._buffers.values())
            yield from (one for one in values if isinstance(one, Tensor))
    elif isinstance(given, MethodType):
        yield from _held(given.__self__, depth)
    elif isinstance(given, FunctionType):
        yield from _named(given, depth)
    elif isinstance(given, functools.partial):
        yield from _held(given.func, depth)
        yield from tree_leaves((given.args, given.keywords))
    elif isinstance(given, Tensor):
        yield given
    elif isinstance(given, _OPERATORS):
        return
    elif depth == _DEEPEST:
        yield _UNKNOWN


def _named(function: FunctionType, depth: int) -> Iterator[Any]:
    if not depth or (function.__module__ or "").startswith("torch."):
        return
    try:
        names = inspect.getclosurevars(function)
    except ValueError:
        # A name that it closes over has no value yet.
        yield _UNKNOWN
        return
    for value in (*names.nonlocals.values(), *names.globals.values()):
        for leaf in tree_leaves(value):
            yield from _held(leaf, depth - 1)
