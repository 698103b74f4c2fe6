"""The operations that are drawn from the knowledge: what devicelint's stubs state of torch.

A stub says which arguments are tensors; which shapes and types they take, it does not. So each is
called once on the CPU, with numbers of every kind, and kept where that works and can be
differentiated.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch

from benchmarks.differential.values import BATCH, WIDTH
from devicelint.knowledge import Parameter, Role, function
from devicelint.knowledge.stubs_index import index

_MODULES: Final = {"torch": "torch", "torch.nn.functional": "F", "torch.special": "torch.special"}
_TYPES: Final = {torch.float32: "float", torch.int64: "long", torch.bool: "bool"}
_TRIED: Final = {
    1: (("float",), ("long",)),
    2: (("float", "float"), ("float", "long"), ("long", "long"), ("float", "bool")),
    3: (("float", "float", "float"), ("float", "bool", "float"), ("bool", "float", "float")),
}
_LEFT_OUT: Final = (
    "cudnn",
    "miopen",
    "mkldnn",
    "fbgemm",
    "quant",
    "dequant",
    "empty",
    "fake",
    "sparse",
    "_",
)
_BY_VALUE: Final = frozenset(
    {"unique", "unique_consecutive", "one_hot", "masked_select", "take_along_dim"}
)
"""The shapes of their results hang on the numbers."""


@dataclass(frozen=True)
class Operation:
    """A function of tensors that are all of shape (4, 8).

    Attributes:
        module: how its module is written: `torch` or `F`.
        name: its own name.
        takes: the types of its operands.
        gives: the type of its result.
        shape: the shape of its result.
        method: whether tensors have a method of that name.
        in_place: whether the method has a twin that writes into its receiver.
        common: whether people wrote its stub, and no script.
    """

    module: str
    name: str
    takes: tuple[str, ...]
    gives: str
    shape: tuple[int, ...]
    method: bool
    in_place: bool
    common: bool


@functools.cache
def operations(operands: int) -> tuple[Operation, ...]:
    """All known operations of so many tensors."""
    return tuple(operation for operation in _all() if len(operation.takes) == operands)


@functools.cache
def elementwise(operands: int) -> tuple[Operation, ...]:
    """Those from floats to floats of the same shape that tensors have as a method in place."""
    return tuple(
        operation
        for operation in operations(operands)
        if operation.in_place
        and operation.gives == "float"
        and set(operation.takes) == {"float"}
        and operation.shape == (BATCH, WIDTH)
    )


@functools.cache
def _all() -> tuple[Operation, ...]:
    state = torch.get_rng_state()
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tuple(_found())
    torch.set_rng_state(state)
    return found


def _found() -> Iterator[Operation]:
    for module, written in _MODULES.items():
        for name, definition in sorted(index(module).items()):
            if (
                name in _BY_VALUE
                or name.startswith(_LEFT_OUT)
                or name.endswith("_")
                or "=" in definition.text[:40]
            ):
                continue
            operands = _operands(f"{module}.{name}")
            call = _resolved(module, name)
            if operands and call is not None:
                common = not definition.file.startswith("derived")
                yield from _tried(written, name, call, operands, common)


def _operands(name: str) -> int:
    """How many tensors a function needs, if it needs nothing else."""
    stated = function(name)
    if stated is None:
        return 0
    needed = [parameter for parameter in stated.parameters if parameter.default is None]
    plain = all(_is_operand(parameter) for parameter in needed)
    return len(needed) if plain and len(needed) in _TRIED else 0


def _is_operand(parameter: Parameter) -> bool:
    slot = parameter.slot
    return slot is not None and slot.role is Role.OPERAND and not slot.sequence


def _resolved(module: str, name: str) -> Any:
    place: Any = torch
    for part in module.split(".")[1:]:
        place = getattr(place, part)
    return getattr(place, name, None)


def _tried(module: str, name: str, call: Any, operands: int, common: bool) -> Iterator[Operation]:
    for takes in _TRIED[operands]:
        given = _result(call, takes)
        if given is None:
            continue
        method = module == "torch" and callable(getattr(torch.zeros(1), name, None))
        in_place = method and hasattr(torch.Tensor, f"{name}_")
        shape, gives = tuple(given.shape), _TYPES[given.dtype]
        yield Operation(module, name, takes, gives, shape, method, in_place, common)
        return


def _result(call: Any, takes: tuple[str, ...]) -> torch.Tensor | None:
    """What a call gives, if it works with any numbers, and forwards as backwards."""
    given, shapes = None, set()
    for awkward in (True, False):
        tensors = [_sample(kind, awkward) for kind in takes]
        try:
            given = call(*tensors)
            if not isinstance(given, torch.Tensor) or given.dtype not in _TYPES:
                return None
            if given.requires_grad:
                given.sum().backward()
            shapes.add(given.shape)
        except Exception:  # noqa: BLE001 - whatever a function says to arguments that it refuses
            return None
    return given if len(shapes) == 1 else None


def _sample(kind: str, awkward: bool) -> torch.Tensor:
    if kind == "bool":
        return torch.rand(BATCH, WIDTH) > 0.5
    if kind == "long":
        return torch.randint(0, BATCH, (BATCH, WIDTH))
    made = torch.randn(BATCH, WIDTH)
    if awkward:
        made[0, :4] = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0])
    return made.requires_grad_()
