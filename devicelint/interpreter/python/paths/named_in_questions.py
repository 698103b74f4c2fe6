"""The devices that conditions name: whose they are, and what types and indices say of them."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import DEVICE_TYPES, Device, DeviceOf, Known, Opaque, Unsure
from devicelint.domain.values import (
    Batch,
    Const,
    DeviceHandle,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.unseen import is_setting


def one_of_two(device: Device) -> Device:
    """`x.device`, and where `x` is: one device, whichever way it got here."""
    if isinstance(device, Opaque) and not device.apart and device.origin.endswith(".device"):
        return DeviceOf(device.origin.removesuffix(".device"))
    return device


def text_of(run: Run, node: cst.BaseExpression) -> str:
    return str(node.raw_value) if isinstance(node, cst.SimpleString) else ""


def device_named_by(run: Run, node: cst.BaseExpression) -> Device | None:
    """The device that an expression names: itself, its type, or its text."""
    match node:
        case cst.Call(func=cst.Name("str"), args=[given]):
            return device_named_by(run, given.value)
        case cst.Attribute(value=owner, attr=cst.Name("type")):
            return device_named_by(run, owner)
        case _:
            return device_of(run, node)


def device_of(run: Run, node: cst.BaseExpression) -> Device | None:
    """The device that a value is, or is on; None where that is not known."""
    match value := _value_of(run, node):
        case Tensor(device) | Batch(device) | Placed(device) | DeviceHandle(device):
            return None if isinstance(device, Unsure) else one_of_two(device)
        case Symbolic(origin):
            return one_of_two(Opaque(origin))
        case Const(str(name)) if name in DEVICE_TYPES:
            return Known(name)
        case Unknown() if is_setting(value):
            return Opaque(run.code_of(node))
        case _:
            return None


def place_of(run: Run, node: cst.BaseExpression) -> Device | None:
    """Where a thing lies that is asked what tensors alone are asked, such as `is_cuda`."""
    value = _value_of(run, node)
    return DeviceOf(value.origin) if isinstance(value, Symbolic) else device_of(run, node)


def _value_of(run: Run, node: cst.BaseExpression) -> Value | None:
    if not isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        return None
    if isinstance(node, cst.Call) and not _is_constructor(node):
        return None
    with run.muted():
        return run.evaluate(node)


def _is_constructor(node: cst.Call) -> bool:
    """`torch.device("cpu")`: a call that does nothing else."""
    given = node.args[0].value if len(node.args) == 1 else None
    func = node.func
    name = func.attr if isinstance(func, cst.Attribute) else func
    return isinstance(name, cst.Name) and name.value == "device" and given is not None


def compared_types(run: Run, node: cst.BaseExpression) -> tuple[Device, Device, bool] | None:
    """The devices of two tensors whose types are compared, and whether they are to be equal.

    The type of a tensor names the device and the dtype: `torch.cuda.FloatTensor`.
    """
    if not _is_of_call(node):
        return None
    match node:
        case cst.Comparison(
            left=cst.Call(func=cst.Attribute(value=one, attr=cst.Name("type")), args=[]),
            comparisons=[
                cst.ComparisonTarget(
                    cst.Equal() | cst.NotEqual() as sign,
                    cst.Call(func=cst.Attribute(value=other, attr=cst.Name("type")), args=[]),
                )
            ],
        ):
            devices = place_of(run, one), place_of(run, other)
            if devices[0] is None or devices[1] is None:
                return None
            return devices[0], devices[1], isinstance(sign, cst.Equal)
        case _:
            return None


def _is_of_call(node: cst.BaseExpression) -> bool:
    """Whether what a call gives is compared: most conditions are of names."""
    return type(node) is cst.Comparison and type(node.left) is cst.Call


def _are_of_two_types(one: Device, other: Device) -> bool:
    return isinstance(one, Known) and isinstance(other, Known) and one.type != other.type


def compared_index(run: Run, node: cst.BaseExpression) -> tuple[Device, bool] | None:
    """The device whose index is compared with -1, that of the CPU, and whether it is to be one."""
    if not _is_of_call(node):
        return None
    match node:
        case cst.Comparison(
            left=cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("get_device")), args=[]),
            comparisons=[cst.ComparisonTarget(operator, bound)],
        ):
            is_one = _SAYS_ONE.get((type(operator), run.code_of(bound)))
            device = None if is_one is None else place_of(run, owner)
            return None if device is None or is_one is None else (device, is_one)
        case _:
            return None


_SAYS_ONE: dict[tuple[type, str], bool] = {
    (cst.GreaterThanEqual, "0"): True,
    (cst.GreaterThan, "-1"): True,
    (cst.NotEqual, "-1"): True,
    (cst.LessThan, "0"): False,
    (cst.LessThanEqual, "-1"): False,
    (cst.Equal, "-1"): False,
}
"""Whether `x.get_device()` is that of an accelerator, where it is compared so."""


def known_of_known(run: Run, node: cst.BaseExpression) -> bool | None:
    """What a comparison of types or indices comes to, where it is known where the tensors lie."""
    types = compared_types(run, node)
    if types is not None and _are_of_two_types(*types[:2]):
        return not types[2]
    index = compared_index(run, node)
    if index is None or not isinstance(index[0], Known):
        return None
    return (index[0].type != "cpu") is index[1]
