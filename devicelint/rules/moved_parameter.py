"""A parameter is moved before it is registered or optimized."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Opaque
from devicelint.domain.events import ParameterLost
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule, line_of
from devicelint.rules._leaf_creation import create_on_device


class MovedParameter(Rule):
    """Moving a Parameter returns a tensor that is neither a Parameter nor a leaf."""

    code = "DEV107"
    name = "moved-parameter"
    severity = Severity.ERROR
    summary = (
        "A moved `nn.Parameter` or leaf tensor is a copy that is neither registered nor optimized"
    )
    unfixed = "no variable there holds the device"

    def on_parameter_lost(self, event: ParameterLost, context: RuleContext) -> Reports:
        """It is assigned to a Module, or given to an optimizer, after the move."""
        move, device = event.move, event.tensor.device
        assert isinstance(move, cst.CSTNode)
        is_parameter = event.tensor.role == "lost"
        what = "Parameter" if event.registered else "leaf"
        consequence = (
            "the module does not register it" if event.registered else "the optimizer rejects it"
        )
        is_chosen = isinstance(device, (Opaque, DeviceOf))
        yield Report(
            move,
            f"{clashes.quoted(context, move)} is a copy on {_named(device)} and no longer a "
            f"{what}: {consequence} (line {line_of(0)}){_condition(device)}; move the data first",
            ((event.site, "used here"),),
            Severity.WARNING if is_chosen else None,
            fix=create_on_device(context, move, is_parameter=is_parameter),
        )


def _named(device: Device) -> str:
    if isinstance(device, DeviceOf):
        return f"the device of `{device.place}`"
    return f"`{device}`" if isinstance(device, Opaque) else str(device).replace("cpu", "the CPU")


def _condition(device: Device) -> str:
    if isinstance(device, Opaque):
        return f" unless `{device}` is the CPU"
    return " unless that is the CPU" if isinstance(device, DeviceOf) else ""
