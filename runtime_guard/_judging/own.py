"""What belongs to a module: its tensors, its modules, and whether it moves what it is given."""

from __future__ import annotations

import types
from collections.abc import Iterator
from itertools import chain

from torch import Tensor, nn

# A forward that calls one of these is taken to bring its arguments to its own device.
_MOVES = frozenset({"to", "cuda", "type_as", "to_device", "send_to_device", "move_to_device"})
_CALL_DEPTH = 3


def own_tensors(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """The module's own parameters and buffers, each with what a message calls it.

    A replica made by DataParallel has its parameters as attributes, and so have the modules of
    torch inside FullyShardedDataParallel: they count as well.
    """
    own = {name: each for name, each in module._parameters.items() if each is not None}
    for name, tensor in (own or stand_ins(module)).items():
        yield f"parameter '{name}'", tensor
    for name, tensor in module._buffers.items():
        if tensor is not None:
            yield f"buffer '{name}'", tensor


def stand_ins(module: nn.Module) -> dict[str, Tensor]:
    """What a module without parameters of its own computes with in their place.

    A replica of DataParallel and a module of torch under FullyShardedDataParallel have them as
    attributes; a parametrized one, in the module that computes it.
    """
    attributes = vars(module)
    if "_former_parameters" in attributes:
        return dict(attributes["_former_parameters"])
    if "parametrizations" in module._modules:
        parts = module._modules["parametrizations"]._modules.items()
        return {name: each for name, part in parts for each in part._parameters.values()}
    if ("weight" in attributes or "_flat_weights" in attributes) and is_of_torch(module):
        return {name: value for name, value in attributes.items() if isinstance(value, Tensor)}
    return {}


def modules_of(root: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """`root` and every module below it with its path, each once.

    Registered modules come as `named_modules` gives them, and with them those that plain lists,
    tuples and dictionaries hold (`layers[0]`), which torch does not know of.
    """
    seen: set[int] = set()
    waiting = [("", root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield path, module
        below = [*module._modules.items(), *unregistered_modules(module)]
        prefix = f"{path}." if path else ""
        waiting.extend(
            (prefix + name, child) for name, child in reversed(below) if child is not None
        )


def unregistered_modules(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The modules in plain lists, tuples and dictionaries of `module`: `layers[0]`."""
    for name, value in vars(module).items():
        if name.startswith("_") and name.endswith(
            ("_hooks", "_modules", "_parameters", "_buffers")
        ):
            continue
        items: Iterator[tuple[object, object]]
        match value:
            case list() | tuple():
                items = iter(enumerate(value))
            case dict():
                items = iter(list(value.items()))
            case _:
                continue
        for key, item in items:
            if isinstance(item, nn.Module):
                quoted = f'"{key}"' if isinstance(key, str) else repr(key)
                yield f"{name}[{quoted}]", item


def is_offloaded(module: nn.Module) -> bool:
    """Whether another library moves the arguments inside the module's replaced forward."""
    return "_hf_hook" in vars(module) or "forward" in vars(module)


def is_of_torch(module: nn.Module) -> bool:
    """Whether the module's forward is torch's own (that of FSDP's subclasses is)."""
    home = getattr(getattr(type(module), "forward", None), "__module__", None) or ""
    return home.partition(".")[0] == "torch"


def moves_its_arguments(module: nn.Module) -> bool:
    """Whether the user's forward, or a function that it calls, moves tensors.

    Such a module may be given tensors from anywhere. What it forgets to move is found at the
    modules that it calls.
    """
    forward = getattr(type(module), "forward", None)
    return _calls_a_move(getattr(forward, "__wrapped__", forward), module, _CALL_DEPTH)


def _calls_a_move(function: object, module: nn.Module, depth: int) -> bool:
    if not isinstance(function, types.FunctionType):
        return False
    names = set(_names_in(function.__code__))
    if names & _MOVES:
        return True
    if depth == 0:
        return False
    # Code does not tell attributes from global names: what the module has is not looked up there.
    unknown = names - module._modules.keys()
    called = (getattr(type(module), name, function.__globals__.get(name)) for name in unknown)
    return any(
        _calls_a_move(callee, module, depth - 1)
        for callee in called
        if isinstance(callee, types.FunctionType)
        and not (callee.__module__ or "").startswith("torch")
    )


def _names_in(code: types.CodeType) -> Iterator[str]:
    inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return chain(code.co_names, *(_names_in(const) for const in inner))
