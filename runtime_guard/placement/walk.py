"""Finds every tensor that a model holds, registered or not, each once."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["parameter", "buffer", "attribute", "list", "optimizer parameter", "optimizer state"]

# What every module has of itself: registries, hooks, flags. None of it holds a tensor of its own.
MACHINERY = frozenset(vars(nn.Module())) | {"_former_parameters", "_hf_hook"}


class Held(NamedTuple):
    """A tensor, and how the model holds it.

    Attributes:
        path: as Python would write it behind `model.`: `encoder.masks[0]`.
        kind: what it is held as.
        tensor: the tensor.
        container: `list`, `tuple` or `dict`, where a plain one stands in the way of `.to()`.
        placed: whether accelerate sees to the device: a module above it has `_hf_hook`.
        computed: whether a forward writes it anew each time, so that it follows its inputs.
    """

    path: str
    kind: Kind
    tensor: Any
    container: str = ""
    placed: bool = False
    computed: bool = False


class _Found(NamedTuple):
    """A module that nothing registered, or the model itself."""

    path: str
    module: Any
    container: str
    placed: bool


def held_by(model: nn.Module) -> list[Held]:
    """Return what `model` holds: of each module, the registered first, then plain attributes."""
    seen: set[int] = set()
    held: list[Held] = []
    found = deque([_Found("", model, "", placed=False)])
    while found:
        start = found.popleft()
        modules = _modules_under(start, seen)
        held += [each for module in modules for each in _registered(module, start, seen)]
        for module in modules:
            for each in _plain(module, seen):
                if isinstance(each, Held):
                    held.append(each)
                else:
                    found.append(each)
    return held


def _modules_under(start: _Found, seen: set[int]) -> list[_Found]:
    """Return the module and all below it that were not met before, and whether each is placed."""
    modules: list[_Found] = []
    placed = {"": start.placed}
    for path, module in start.module.named_modules():
        above = placed.get(path.rpartition(".")[0], False)
        placed[path] = above or "_hf_hook" in vars(module)
        if _is_new(module, seen):
            full = f"{start.path}.{path}" if start.path and path else start.path or path
            modules.append(_Found(full, module, start.container, placed[path]))
    return modules


def _registered(module: _Found, start: _Found, seen: set[int]) -> Iterator[Held]:
    """Yield parameters and buffers; a replica of DataParallel has its parameters elsewhere."""
    unregistered = bool(start.path)
    parameters = {
        **dict(module.module.named_parameters(recurse=False)),
        **getattr(module.module, "_former_parameters", {}),
    }
    kinds: tuple[tuple[Kind, dict[str, Any]], ...] = (
        ("parameter", parameters),
        ("buffer", dict(module.module.named_buffers(recurse=False))),
    )
    for kind, tensors in kinds:
        for name, tensor in tensors.items():
            if _is_new(tensor, seen) and not is_lazy(tensor):
                path = f"{module.path}.{name}" if module.path else name
                shown: Kind = "list" if unregistered else kind
                yield Held(path, shown, tensor, module.container, module.placed)


def _plain(module: _Found, seen: set[int]) -> Iterator[Held | _Found]:
    """Yield the tensors and modules that stand in attributes, and in containers in them."""
    for name, value in list(vars(module.module).items()):
        if name in MACHINERY:
            continue
        path = f"{module.path}.{name}" if module.path else name
        for inner, container, each in inside(value, path, seen):
            if isinstance(each, nn.Module):
                yield _Found(inner, each, container or "attribute", module.placed)
            elif not is_lazy(each):
                computed = _is_computed(each) or f"{name}_orig" in module.module._parameters
                yield Held(inner, "attribute", each, container, module.placed, computed)


def _is_computed(tensor: Tensor) -> bool:
    """Whether a forward makes it anew.

    A view is asked no more than that: FullyShardedDataParallel leaves some whose history is gone.
    """
    return bool(tensor.requires_grad and (tensor._is_view() or not tensor.is_leaf))


def inside(value: object, path: str, seen: set[int]) -> Iterator[tuple[str, str, Any]]:
    """Yield path, container and value of each new tensor and module in plain nested values.

    A container that holds itself ends the walk; order is as written.
    """
    waiting: list[tuple[str, str, object]] = [(path, "", value)]
    while waiting:
        inner, container, each = waiting.pop()
        if isinstance(each, nn.Module):
            # Marked as seen when its own tensors are listed: it may be met again before.
            if id(each) not in seen:
                yield inner, container, each
        elif isinstance(each, Tensor):
            if _is_new(each, seen):
                yield inner, container, each
        elif isinstance(each, (list, tuple, dict)) and _is_new(each, seen):
            waiting += reversed([(f"{inner}{at}", kind, item) for at, kind, item in _items(each)])


def _items(container: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> list[tuple[str, str, Any]]:
    if isinstance(container, dict):
        return [(f"[{_key(key)}]", "dict", item) for key, item in list(container.items())]
    kind = "list" if isinstance(container, list) else "tuple"
    return [(f"[{at}]", kind, item) for at, item in enumerate(list(container))]


def _key(key: object) -> str:
    """Write a key as Python would, where that is short and runs no code of others."""
    if isinstance(key, str):
        return json.dumps(key, ensure_ascii=False)
    return repr(key) if isinstance(key, (int, float, bytes, type(None))) else type(key).__name__


def _is_new(each: object, seen: set[int]) -> bool:
    if id(each) in seen:
        return False
    seen.add(id(each))
    return True
