"""Calls of torch.cuda and its kin that raise on a machine which the script else provides for."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.api_events import AcceleratorApiCalled
from devicelint.domain.events import AcceleratorDemanded
from devicelint.domain.history import Site
from devicelint.finding import Severity
from devicelint.fixes import GuardStatement, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule

_GUARDS = {
    "torch.cuda": ("CUDA", "cuda.is_available()"),
    "torch.xpu": ("an Intel GPU", "xpu.is_available()"),
    "torch.mps": ("an Apple GPU", "backends.mps.is_available()"),
    "torch.accelerator": ("an accelerator", "accelerator.is_available()"),
}
"""What each part of torch needs, and how to ask for it."""


class UnguardedAcceleratorApi(Rule):
    """`torch.cuda.synchronize()` in a script that also runs on the CPU."""

    code = "DEV402"
    name = "unguarded-accelerator-api"
    severity = Severity.WARNING
    summary = (
        "An unguarded `torch.cuda` call raises on CPU-only machines this code otherwise supports"
    )
    unfixed = "this call has no meaning without an accelerator"

    def __init__(self) -> None:
        self._going: set[Site] = set()
        """The functions that go to an accelerator, whatever the machine has."""

    def on_accelerator_demanded(self, event: AcceleratorDemanded, context: RuleContext) -> Reports:
        """What goes to one by name cannot do without: that is the mistake, if it is one."""
        if not (event.is_idle or event.at_times):
            self._going.add(context.intent.functions()[0])
        yield from ()

    def on_accelerator_api_called(
        self, event: AcceleratorApiCalled, context: RuleContext
    ) -> Reports:
        """On the machine without an accelerator, where nothing guards it."""
        intent = context.intent
        if (
            context.world.accelerators
            or event.at_times
            or (intent.is_doubted() and not self.asked_for)
            or not intent.is_chosen_here()
            or intent.is_for_cuda_alone()
        ):
            return
        if not self._going.isdisjoint(intent.functions()):
            return
        call = event.site
        assert isinstance(call, cst.Call)
        root = next(one for one in _GUARDS if event.name.startswith(f"{one}."))
        lacking, check = _GUARDS[root]
        yield Report(
            call,
            f"{clashes.quoted(context, call)} raises on a machine without {lacking}, which this "
            f"script otherwise supports: check torch.{check} first",
            fix=_guard(call, check, context),
        )


def _guard(call: cst.Call, check: str, context: RuleContext) -> Rewrite | None:
    """A statement of its own goes under a condition; what gives a value needs another one."""
    torch = context.names.torch_name()
    if torch is None or not context.source.is_statement(call):
        return None
    guard = GuardStatement(call, f"{torch}.{check}")
    return Rewrite(f"Guard it with `{torch}.{check}`", (guard,))
