"""Memory is pinned that cannot be, or where nothing can pin."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.data_events import HostMemoryDemanded, LoaderPins
from devicelint.domain.devices import CPU, is_accelerator
from devicelint.domain.events import AcceleratorDemanded
from devicelint.domain.history import Site
from devicelint.finding import Severity
from devicelint.fixes import Keep, RemoveArgument, Replace, Rewrite, asks_for
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class PinnedWrongly(Rule):
    """Only host memory can be pinned, and only on a machine with an accelerator."""

    code = "DEV502"
    name = "pinned-wrongly"
    severity = Severity.ERROR
    summary = "Only CPU memory can be pinned, and only on a machine with an accelerator"
    unfixed = "the tensor to pin instead is not known"

    def __init__(self) -> None:
        self._demanded: dict[Site, str] = {}

    def on_accelerator_demanded(self, event: AcceleratorDemanded, context: RuleContext) -> Reports:
        """What fails without an accelerator anyway is reported once."""
        if not event.is_idle:
            self._demanded[event.site] = context.world.description
        return iter(())

    def on_host_memory_demanded(self, event: HostMemoryDemanded, context: RuleContext) -> Reports:
        """`.pin_memory()` on an accelerator, or on a machine that has none."""
        if event.operation != "pin_memory":
            return
        if is_accelerator(event.operand.device):
            yield self._of_accelerator(event, context)
        elif event.operand.device == CPU and not context.world.accelerators:
            yield from self._for_nothing(event, context)

    def on_loader_pins(self, event: LoaderPins, context: RuleContext) -> Reports:
        """The loader would pin what its dataset or collate function has moved."""
        argument = event.given
        call = event.site
        assert isinstance(call, cst.Call)
        given = [one for one in call.args if one.value is argument]
        fix = Rewrite("Do not pin", (RemoveArgument(call, given[0]),)) if given else None
        yield Report(
            argument,
            f"{clashes.quoted(context, call.func)} pins tensors that are already on "
            f"{clashes.place(event.item)}, but only CPU tensors can be pinned: remove pin_memory",
            fix=fix,
        )

    def _of_accelerator(self, event: HostMemoryDemanded, context: RuleContext) -> Report:
        operand, call = event.operand, event.site
        assert isinstance(call, cst.Call)
        assert isinstance(operand.site, cst.BaseExpression)
        return Report(
            call,
            f"{clashes.quoted(context, operand.site)} is on {clashes.place(operand)}"
            f"{clashes.since(operand, 0)}, but only CPU tensors can be pinned",
            clashes.history(operand),
            fix=Rewrite("Do not pin", (Keep(call, operand.site),)),
        )

    def _for_nothing(self, event: HostMemoryDemanded, context: RuleContext) -> Reports:
        """A script that chooses its device, and pins whatever it is."""
        if self._demanded or not context.intent.is_chosen_here():
            return
        call, tensor = event.site, event.operand.site
        assert isinstance(call, cst.Call)
        check = asks_for("cuda")
        fix = None
        if isinstance(tensor, (cst.Name, cst.Attribute)) and context.names.torch_name() == "torch":
            content = f"({context.code(call)} if {check} else {context.code(tensor)})"
            fix = Rewrite(f"Pin if {check}", (Replace(call, content),))
        yield Report(
            call,
            f"{clashes.quoted(context, call)} fails on a machine without an accelerator, "
            "where it also runs: pin only if the device is an accelerator",
            severity=Severity.WARNING,
            fix=fix,
        )
