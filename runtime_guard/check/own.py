"""What belongs to a module: its tensors and its modules."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn


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


def listed_parameters(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """The parameters that a module holds in a `ParameterList` or `ParameterDict`.

    Torch counts such a list as a child, but it is never called: its owner computes with them.
    """
    for name, child in module._modules.items():
        if isinstance(child, (nn.ParameterList, nn.ParameterDict)):
            for key, tensor in child._parameters.items():
                if tensor is not None:
                    yield f"parameter '{name}.{key}'", tensor


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
