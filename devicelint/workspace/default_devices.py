"""Calls that say on which device tensors are made that are given none."""

from __future__ import annotations

import ast
from collections.abc import Callable

DEFAULT_SETTERS = frozenset({"torch.set_default_tensor_type", "torch.set_default_device"})


def sets_default_device(call: ast.Call, full_name: Callable[[ast.expr], str]) -> bool:
    """Whether a call sets it to another one than the CPU, as far as its text says.

    `torch.set_default_tensor_type(torch.DoubleTensor)` sets nothing but the type.
    """
    if full_name(call.func) not in DEFAULT_SETTERS:
        return False
    given = [*call.args, *(one.value for one in call.keywords)]
    return not given or not _is_of_the_cpu(given[0], full_name)


def _is_of_the_cpu(given: ast.expr, full_name: Callable[[ast.expr], str]) -> bool:
    match given:
        case ast.Constant(str(text)):
            name = text
        case ast.Call(func, [ast.Constant(str(text)), *_]) if full_name(func) == "torch.device":
            name = text
        case ast.Name() | ast.Attribute():
            name = full_name(given)
        case _:
            return False
    is_type = name.startswith("torch.") and name.endswith("Tensor")
    return name == "cpu" or (is_type and name.count(".") == 1)
