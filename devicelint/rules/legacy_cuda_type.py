"""Legacy tensor types: the device is part of their name, whatever the machine has."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.api_events import LegacyTypeUsed, LegacyUse
from devicelint.domain.devices import Known
from devicelint.domain.events import AcceleratorDemanded
from devicelint.finding import Safety, Severity
from devicelint.fixes import Change, InsertAfter, RemoveArgument, Replace, Rewrite, choice_of
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.interpreter.torch.legacy_types import dtype_of
from devicelint.rules import _clashes as clashes
from devicelint.rules._accelerator_demands import contradicts
from devicelint.rules._base import Report, Reports, Rule
from devicelint.rules._device_definition import Demand, device_in_use

_SET_DEFAULT_DEVICE = (2, 0)
"""The release of torch that brought `torch.set_default_device`."""


class LegacyCudaType(Rule):
    """`torch.cuda.FloatTensor(2, 3)`, `x.type("torch.cuda.FloatTensor")`."""

    code = "DEV403"
    name = "legacy-cuda-type"
    severity = Severity.WARNING
    summary = "Legacy tensor types such as `torch.cuda.FloatTensor` fail on machines without CUDA"
    unfixed = "no chosen device is available here: `devicelint adopt` adds one"

    def on_legacy_type_used(self, event: LegacyTypeUsed, context: RuleContext) -> Reports:
        """A CUDA type fails without CUDA; a CPU type refuses a CUDA device everywhere."""
        call = event.site
        assert isinstance(call, cst.Call)
        if event.use is LegacyUse.KEYWORD:
            yield _refused(event, call, context)
        elif not context.world.accelerators and self._is_mistaken(event, context):
            advice, fix = self._fix_of(event, call, context)
            yield Report(
                call,
                f"{clashes.quoted(context, call)} fails on a machine without CUDA: `{event.name}` "
                f"is a type for CUDA tensors only; {advice}",
                fix=fix,
            )

    def _is_mistaken(self, event: LegacyTypeUsed, context: RuleContext) -> bool:
        """Whether the program is for machines without CUDA, too; else it is one of many places."""
        assert isinstance(event.device, Known)
        at_hand = context.names.devices_at_hand(event.site, event.site, event.device)
        if self.asked_for:
            return True
        return not context.intent.is_doubted() and contradicts(context, at_hand, at_times=False)

    def _fix_of(
        self, event: LegacyTypeUsed, call: cst.Call, context: RuleContext
    ) -> tuple[str, Rewrite | None]:
        if event.use is LegacyUse.DEFAULT:
            return self._default_device(call, context)
        assert isinstance(event.device, Known)
        demand = Demand(
            AcceleratorDemanded(call, event.device, event.name, False, call),
            context,
            frozenset({event.device}),
        )
        assert isinstance(event.device, Known)
        at_hand = context.names.devices_at_hand(call, call, event.device) or ()
        code, name, more = device_in_use(demand, at_hand)
        torch = context.names.torch_name()
        changes = () if torch is None else _changes(event, call, code, torch)
        if more is None or not changes:
            return f"use `.to({name})`", None
        rewrite = Rewrite(f"Use `.to({name})`{demand.warning}", (*more, *changes), demand.safety)
        return f"use `.to({name})`", rewrite

    def _default_device(self, call: cst.Call, context: RuleContext) -> tuple[str, Rewrite | None]:
        torch = context.names.torch_name()
        choice = None if torch is None else choice_of("cuda", torch)
        if choice is None or not self.may_use(_SET_DEFAULT_DEVICE):
            return "check torch.cuda.is_available() first", None
        change = Replace(call, f"{torch}.set_default_device({choice})")
        advice = "use torch.set_default_device() with an available device"
        message = "Set the default device, on which tensors without device= are then created"
        return advice, Rewrite(message, (change,), Safety.UNSAFE)


def _refused(event: LegacyTypeUsed, call: cst.Call, context: RuleContext) -> Report:
    made = context.code(call.func)
    assert isinstance(event.argument, cst.CSTNode)
    device = context.code(event.argument)
    dtype = dtype_of(event.name) if made.endswith("Tensor") else None
    argument = next(one for one in call.args if one.value is event.argument)
    changes = (RemoveArgument(call, argument), InsertAfter(call, f".to({device})"))
    is_known = isinstance(event.device, Known)
    unless = "" if is_known else " (unless that is the CPU)"
    return Report(
        call,
        f"{made}() only creates CPU tensors, and raises for `device={device}`{unless}: move its "
        f"result with `.to({device})`, or use torch.tensor() with dtype=torch.{dtype}",
        severity=Severity.ERROR if is_known else Severity.WARNING,
        fix=Rewrite(f"Move the result with `.to({device})`", changes),
        anywhere=True,
    )


def _changes(event: LegacyTypeUsed, call: cst.Call, code: str, torch: str) -> tuple[Change, ...]:
    """`torch.cuda.FloatTensor(2)` → `torch.FloatTensor(2).to(device)`, `.type(…)` → `.to(…)`."""
    if event.use is LegacyUse.CONSTRUCTED:
        kind = event.name.rpartition(".")[2]
        return Replace(call.func, f"{torch}.{kind}"), InsertAfter(call, f".to({code})")
    dtype = dtype_of(event.name)
    if not isinstance(call.func, cst.Attribute) or len(call.args) != 1 or dtype is None:
        return ()
    given = call.args[0]
    return Replace(call.func.attr, "to"), Replace(given, f"{code}, {torch}.{dtype}")
