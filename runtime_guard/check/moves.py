"""Whether a module moves what it is given, as far as the code of its forward shows."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import torch
from torch import nn

from runtime_guard.check.own import is_of_torch

# A forward that calls one of these is taken to bring its arguments to its own device.
_MOVES = frozenset(
    {"to", "cuda", "type_as", "copy_", "as_tensor"}
    | {"to_device", "send_to_device", "move_to_device"}
)
# One on the CPU may read them there as well.
_MOVES_TO_CPU = _MOVES | {"cpu", "tolist", "item"}
_CALL_DEPTH = 3


def moves_its_arguments(module: nn.Module, device: torch.device) -> bool:
    """Whether the user's forward, or a function that it calls, moves tensors to this device.

    Such a module may be given tensors from anywhere. What it forgets to move is found at the
    modules that it calls.
    """
    moves = _MOVES_TO_CPU if device.type == "cpu" else _MOVES
    if _calls_a_move(module, moves):
        return True
    names = _names_of(_unwrapped([getattr(type(module), "forward", None)]))
    parts = [part for name, part in module._modules.items() if name in names and part is not None]
    return any(_calls_a_move(part, moves) for part in parts if not is_of_torch(part))


def _calls_a_move(module: nn.Module, moves: frozenset[str]) -> bool:
    level: list[object] = [getattr(type(module), "forward", None)]
    for _ in range(_CALL_DEPTH + 1):
        functions = _unwrapped(level)
        if _names_of(functions) & moves:
            return True
        level = [callee for function in functions for callee in _callees(function, module)]
    return False


def _callees(function: types.FunctionType, module: nn.Module) -> Iterator[object]:
    """What the function may call, going by the names in its code.

    Code does not distinguish attributes from global names: what the module has is not looked up.
    """
    names = _names_of([function])
    kind, own, known = type(module), vars(module), function.__globals__
    homes = [known[name] for name in names if isinstance(known.get(name), (type, types.ModuleType))]
    if "super" in names:
        homes.extend(kind.__mro__[1:])
    for name in names - module._modules.keys():
        yield getattr(kind, name, own.get(name, known.get(name)))
        for home in homes:
            if not _is_name_of_torch(getattr(home, "__module__", home.__name__)):
                yield vars(home).get(name)


def _unwrapped(callables: Iterable[object]) -> list[types.FunctionType]:
    """The functions behind these, and those that they decorate; none of torch's own."""
    found: dict[types.FunctionType, None] = {}
    waiting: list[Any] = list(callables)
    seen: list[object] = []
    while waiting:
        item = waiting.pop()
        if isinstance(item, (types.MethodType, staticmethod, classmethod)):
            waiting.append(item.__func__)
        elif isinstance(item, functools.partial):
            waiting.append(item.func)
        elif isinstance(item, types.FunctionType) and item not in seen:
            seen.append(item)
            waiting.extend(_decorated(item))
            if not _is_name_of_torch(item.__globals__.get("__name__")):
                found[item] = None
    return list(found)


def _decorated(function: types.FunctionType) -> Iterator[object]:
    yield getattr(function, "__wrapped__", None)
    # A cell that was looked into while torch.compile traces is one that it cannot compile.
    if not torch.compiler.is_compiling():
        yield from map(_content, function.__closure__ or ())


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # It is filled later.
        return None


def _is_name_of_torch(name: str | None) -> bool:
    # torchmetrics moves its states, not what it is given.
    return (name or "").partition(".")[0] in ("torch", "torchmetrics")


def _names_of(functions: Iterable[types.FunctionType]) -> set[str]:
    return {name for function in functions for name in _names_in(function.__code__)}


def _names_in(code: types.CodeType) -> Iterator[str]:
    inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return chain(code.co_names, *(_names_in(const) for const in inner))
