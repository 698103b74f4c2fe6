"""What code gives that nobody sees, where it is used as a tensor."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import DeviceOf
from devicelint.domain.history import Site
from devicelint.domain.values import (
    HOST,
    Batch,
    Const,
    DeviceHandle,
    Flag,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import attributes, elements, items, methods, operates
from devicelint.interpreter.facts.movable import treat_as_movable
from devicelint.interpreter.facts.tensor_api import TENSOR_METHODS
from devicelint.interpreter.python.attributes import DTYPE
from devicelint.interpreter.python.calls import method_unseen
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.python.unseen import (
    computed_of_unseen,
    element_of_outside,
    is_setting,
    part_of,
    taken_for_tensor,
)
from devicelint.interpreter.torch.modules.unseen_models import note_asked
from devicelint.interpreter.torch.operations.operators import operate_on_tensors
from devicelint.interpreter.torch.tensor_methods import method_of_placed
from devicelint.knowledge import tensor_method as signature_of

_NO_ATTRIBUTE = "an attribute of Unknown"
_SHAPES = frozenset({"shape", "ndim"})
_THE_SAME = frozenset({"data", "T", "mT", "grad"})
_TENSORS = (Tensor, Batch, Placed)
_READ_OUT = frozenset({"item", "tolist", "numpy"})


@methods(Unknown)
def method_of_unseen(run: Run, receiver: Unknown, name: str, node: cst.Call) -> Value:
    """A method that only tensors have proves that this is one; others leave a tensor in place."""
    callee = Unknown(_NO_ATTRIBUTE, unread=_member_unread(receiver, name))
    if receiver.symbol is None:
        return method_unseen(run, receiver, callee, node)
    note_asked(run, receiver, name)
    if name in TENSOR_METHODS:
        tensor = taken_for_tensor(run, receiver)
        if isinstance(tensor, Tensor):
            return method_of_placed(run, tensor, name, node)
    result = method_unseen(run, receiver, callee, node)
    stays = isinstance(result, Unknown) and name not in _READ_OUT and signature_of(name) is not None
    return Unknown(f"the result of .{name}()", receiver.symbol) if stays else result


def _member_unread(owner: Unknown, name: str) -> tuple[str, str] | None:
    """What a class or an object of the project has that nobody has walked."""
    return None if owner.unread is None else (owner.unread[0], f"{owner.unread[1]}.{name}")


@attributes(Unknown)
def of_unseen(run: Run, value: Unknown, name: str, node: cst.Attribute) -> Value:
    """The device of what is not seen is its own, whatever it is."""
    if value.symbol is None:
        return Unknown(_NO_ATTRIBUTE)
    note_asked(run, value, name)
    device = value.symbol.device
    if name == "device" and not is_setting(value):
        treat_as_movable(run, value.symbol)
        return DeviceHandle(device, node, is_object=False)
    if name in ("is_cuda", "is_cpu") and isinstance(device, DeviceOf):
        return Flag(f"{device.place}.{name}")
    if name in _SHAPES:
        return HOST
    if name == "dtype":
        return replace(DTYPE, of=value.symbol)
    return value if name in _THE_SAME else part_of(value, f".{name}")


@items(Unknown)
def item_of_unseen(run: Run, value: Unknown, node: cst.Subscript) -> Value:
    """A slice of a tensor lies where that does; what lies under a key has a place of its own."""
    key = key_of(run, node)
    if value.symbol is None:
        return Unknown("an item of something unknown", source=value.source)
    if len(node.slice) > 1:
        return Unknown("a part of something unknown", value.symbol)
    if not isinstance(node.slice[0].slice, cst.Index):
        return value
    return part_of(value, f"[{key.value!r}]" if isinstance(key, Const) else "[*]")


@elements(Unknown)
def element_of_unseen(run: Run, value: Unknown, site: Site) -> Value:
    if value.symbol is None:
        return Unknown("an element of something unknown", source=value.source)
    return part_of(value, "[*]")


@elements(Symbolic)
def element_of_collection(run: Run, value: Symbolic, site: Site) -> Value:
    return element_of_outside(value)


@operates(Unknown)
def operate_on_unseen(
    run: Run, node: cst.CSTNode, symbol: str, left: Argument, right: Argument
) -> Value:
    """An operator with a tensor on one side; or what is computed of something unseen."""
    if any(isinstance(one.value, (*_TENSORS, Symbolic)) for one in (left, right)):
        return operate_on_tensors(run, node, symbol, left, right)
    return computed_of_unseen(run, node, symbol, left, right)
