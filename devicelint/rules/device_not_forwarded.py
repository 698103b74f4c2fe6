"""A function that takes a device is called without the one that is at hand."""

from __future__ import annotations

import libcst as cst

from devicelint.domain import api_events
from devicelint.domain.devices import CPU, Known
from devicelint.finding import Certainty, Safety, Severity
from devicelint.fixes import AddKeyword, InsertAfter, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _move_fixes as moving
from devicelint.rules._base import Report, Reports, Rule, line_of


class DeviceNotForwardedRule(Rule):
    """`evaluate(model)` beside a `device`, where `def evaluate(model, device="cuda")`."""

    code = "DEV407"
    name = "device-not-forwarded"
    severity = Severity.WARNING
    summary = "A call drops the caller's device, or the function ignores the device it gets"
    unfixed = "no variable there holds the device"

    def on_device_ignored(self, event: api_events.DeviceIgnored, _: RuleContext) -> Reports:
        """`make(3, device)`, where make() creates on the CPU whatever it is given."""
        function, made = event.function, event.made
        assert isinstance(function, cst.FunctionDef)
        assert isinstance(made, cst.Call)
        name = function.name.value
        change = (
            AddKeyword(made, "device", event.parameter)
            if moving.takes_device(made) and not event.is_module
            else InsertAfter(made, f".to({event.parameter})")
        )
        yield Report(
            event.site,
            f"{name}() takes `{event.parameter}` but never reads it: its result is on the CPU "
            f"(line {line_of(0)}), whatever is passed here",
            ((made, "created on the CPU here"),),
            certainty=Certainty.CONTRACT,
            fix=Rewrite(
                f"Use `{event.parameter}` there: the result is then on that device",
                (change,),
                Safety.UNSAFE,
            ),
            subject=function,
        )

    def on_device_not_forwarded(
        self, event: api_events.DeviceNotForwarded, context: RuleContext
    ) -> Reports:
        """An accelerator that is a default fails on the machine without one; others mislead."""
        is_fixed = event.fixed is not None and event.fixed != CPU
        if is_fixed and (context.world.accelerators or _is_for_it_alone(event, context)):
            return
        call = event.site
        assert isinstance(call, cst.Call)
        assert isinstance(event.default, cst.Param)
        assert event.default.default is not None
        default = context.code(event.default.default)
        argument = f"{event.parameter}={event.at_hand}"
        message = _if_fixed(event, default) if is_fixed else _if_chosen(event, default)
        moved = "" if is_fixed else ": the result is then on that device"
        fix = Rewrite(
            f"Pass `{argument}`{moved}",
            (AddKeyword(call, event.parameter, event.at_hand),),
            Safety.SAFE if is_fixed else Safety.UNSAFE,
        )
        yield Report(call, message, certainty=Certainty.CONTRACT, fix=fix, anywhere=not is_fixed)


def _is_for_it_alone(event: api_events.DeviceNotForwarded, context: RuleContext) -> bool:
    """Whether the file cannot be imported without the accelerator that the default names."""
    return isinstance(event.fixed, Known) and context.intent.imports_for(event.fixed.type)


def _if_chosen(event: api_events.DeviceNotForwarded, default: str) -> str:
    return (
        f"`{event.at_hand}` is chosen but not passed on: {event.function}() falls back "
        f"on `{event.parameter}={default}`; pass `{event.parameter}={event.at_hand}`"
    )


def _if_fixed(event: api_events.DeviceNotForwarded, default: str) -> str:
    return (
        f"{event.function}() uses `{default}` unless it gets a device, and fails "
        f"on a machine without {event.fixed}: pass `{event.parameter}={event.at_hand}`"
    )
