"""What the notes about single transfers share: where one goes, and how it is written."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Opaque, may_be_accelerator
from devicelint.domain.events import Transfer
from devicelint.interpreter.suggestions.context import RuleContext


def goes_to_accelerator(target: Device | None) -> bool:
    """Whether a transfer goes to an accelerator, or to a device that is somebody's choice."""
    return isinstance(target, DeviceOf) or (target is not None and may_be_accelerator(target))


def named(device: Device) -> str:
    """A device in a message: read from the code, or as the code calls it."""
    if isinstance(device, DeviceOf):
        return f"the device of `{device.place}`"
    return f"`{device}`" if isinstance(device, Opaque) else str(device)


def call_of(event: Transfer) -> cst.Call:
    """The call that a transfer is."""
    assert isinstance(event.site, cst.Call)
    return event.site


def device_written(event: Transfer, context: RuleContext) -> str | None:
    """The device that a transfer names, as it is written; None where it says more than that."""
    call = call_of(event)
    if event.method == "cuda" and not call.args:
        return '"cuda"'
    if event.method != "to":
        return None
    said = [one for one in call.args if not _is_named(one, "non_blocking")]
    if (
        len(said) != 1
        or said[0].star
        or not (said[0].keyword is None or _is_named(said[0], "device"))
    ):
        return None
    return None if _is_tensor(context, said[0].value) else context.code(said[0].value)


def _is_named(argument: cst.Arg, name: str) -> bool:
    return argument.keyword is not None and argument.keyword.value == name


def _is_tensor(context: RuleContext, given: cst.BaseExpression) -> bool:
    """`x.to(other)` follows the dtype of the other tensor, too."""
    return getattr(context.names.value_of(given), "device", None) is not None and not hasattr(
        context.names.value_of(given), "is_object"
    )
