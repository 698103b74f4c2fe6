"""Do a module's inputs lie where the module does? The question of every call, and the answer.

`fits` is asked at each call and costs less than a microsecond; `find_faults` is asked where it
says no, and knows what CUDA allows. Neither keeps state: torch.compile traces them inline, and a
hook that changed anything would be compiled anew at each call.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from runtime_guard.check.allowed import (
    indexes_from_cpu,
    is_free,
    mixes_from_cpu,
    takes_no_scalar,
)
from runtime_guard.check.moves import moves_its_arguments
from runtime_guard.check.own import (
    is_of_torch,
    is_offloaded,
    listed_parameters,
    own_tensors,
    stand_ins,
)
from runtime_guard.check.walk import DEEPEST, tensors_in

# Values of these types hold no tensors; most arguments that are not tensors are one of them.
_PLAIN = frozenset({type(None), bool, int, float, str, torch.dtype, torch.device, torch.Size})


@dataclass(frozen=True, slots=True)
class Fault:
    """A tensor among a module's arguments that is not where the module is.

    Attributes:
        argument: the argument's name and the path inside it: `batch["mask"][0]`.
        tensor: what was found there.
        expected: the device that it should have been on.
        anchor: what lies there: `parameter 'weight'`, `buffer 'mean'`, `argument 'input'`.
    """

    argument: str
    tensor: Tensor
    expected: torch.device
    anchor: str


def fits(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether every tensor among the arguments is on the device of the module's first own tensor.

    Without one, whether they agree with each other. A no is not yet a fault.
    """
    device = None
    for own in module._parameters.values():
        if own is not None:
            device = own.device
            break
    else:
        device = _device_without_parameters(module, args, kwargs)
    return _all_on(device, args) and (not kwargs or _all_on(device, kwargs.values()))


def _device_without_parameters(
    module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> torch.device | None:
    for value in stand_ins(module).values():
        return value.device
    for child in module._modules.values():
        if isinstance(child, (nn.ParameterList, nn.ParameterDict)):
            for _, tensor in listed_parameters(module):
                return tensor.device
    for value in chain(module._buffers.values(), args, kwargs.values()):
        if isinstance(value, Tensor):
            return value.device
    return None


def _all_on(device: torch.device | None, values: Iterable[Any], depth: int = 0) -> bool:
    for value in values:
        if isinstance(value, Tensor):
            if value.device != device:
                return False
            continue
        kind = type(value)
        if kind in _PLAIN:
            continue
        if depth == DEEPEST:
            continue  # A value that holds itself.
        if kind is list or kind is tuple:
            if not _all_on(device, value, depth + 1):
                return False
        elif kind is dict:
            if not _all_on(device, value.values(), depth + 1):
                return False
        elif any(tensor.device != device for _, tensor in tensors_in(value, "")):
            return False
    return True


def find_faults(
    module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], *, meta: bool = False
) -> tuple[Fault, ...]:
    """Every tensor among the arguments that CUDA would not take beside this module.

    Args:
        module: the module that is called.
        args: its positional arguments.
        kwargs: its keyword arguments.
        meta: also judge tensors on `meta`; otherwise they count as belonging nowhere.
    """
    if is_offloaded(module):
        return ()
    arguments = _named(module, args, kwargs)
    strangers = list(_strangers(module, arguments, meta=meta))
    if not strangers:
        return ()
    if not is_of_torch(module) and moves_its_arguments(module, strangers[0].expected):
        return ()
    return tuple(strangers)


def _strangers(module: nn.Module, arguments: dict[str, Any], *, meta: bool) -> Iterator[Fault]:
    found = [
        (path, tensor)
        for name, value in arguments.items()
        if not is_free(module, name, arguments)
        for path, tensor in tensors_in(value, name)
        if (meta or tensor.device.type != "meta")
        and (not mixes_from_cpu(tensor) or takes_no_scalar(module))
    ]
    home = _home(module, found, meta=meta)
    if not home:
        return
    expected, anchor = next(iter(home.items()))
    for path, tensor in found:
        if tensor.device not in home and not _may_index(module, tensor, expected):
            yield Fault(path, tensor, expected, anchor)


def _home(
    module: nn.Module, found: list[tuple[str, Tensor]], *, meta: bool
) -> dict[torch.device, str]:
    """The devices on which the module's arguments may be, each with what lies there.

    A model-parallel module has tensors on several. What mixes or indexes from the CPU says nothing
    of where a module is. A module without children of which nothing else is known has its
    arguments where the first is that is on an accelerator, or else the first.
    """
    own = [*own_tensors(module), *listed_parameters(module)]
    home: dict[torch.device, str] = {}
    for anchor, tensor in own:
        if not (mixes_from_cpu(tensor) or indexes_from_cpu(tensor)):
            home.setdefault(tensor.device, anchor)
    if home:
        return home if meta else {d: anchor for d, anchor in home.items() if d.type != "meta"}
    if module._modules:
        return {}
    placed = [(path, tensor) for path, tensor in found if not indexes_from_cpu(tensor)] or found
    placed.sort(key=lambda item: item[1].device.type == "cpu")
    return {placed[0][1].device: f"argument '{placed[0][0]}'"} if placed else {}


def _may_index(module: nn.Module, tensor: Tensor, expected: torch.device) -> bool:
    """Whether the user's module may use it as an index or as lengths, from the CPU."""
    return expected.type != "cpu" and indexes_from_cpu(tensor) and not is_of_torch(module)


def _named(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name; `inputs[0]` for those that `*inputs` takes."""
    try:
        signature = inspect.signature(module.forward)
    except (TypeError, ValueError):  # A forward written in C.
        return {**{f"args[{index}]": value for index, value in enumerate(args)}, **kwargs}
    names: list[str] = []
    rest = "args"
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = parameter.name
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    names += [f"{rest}[{index}]" for index in range(len(args) - len(names))]
    return {**dict(zip(names, args, strict=False)), **kwargs}


def is_worth_checking(module: nn.Module) -> bool:
    """Whether a call of this module can be wrong: it has tensors, or its arguments may disagree."""
    if isinstance(module, torch.jit.ScriptModule):
        return False  # It bears no hooks.
    if any(True for _ in chain(own_tensors(module), listed_parameters(module))):
        return True
    return not module._modules and _takes_several(module)


def _takes_several(module: nn.Module) -> bool:
    try:
        parameters = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):
        return True
    return len(parameters) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters)
