"""A device context that no `with` enters."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.api_events import DeviceContextDiscarded
from devicelint.finding import Safety, Severity
from devicelint.fixes import RemoveStatement, Replace, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._base import Report, Reports, Rule

_SETTERS = {
    "torch.cuda.device": "set_device",
    "torch.xpu.device": "set_device",
    "torch.cuda.stream": "set_stream",
    "torch.xpu.stream": "set_stream",
    "torch.accelerator.device_index": "set_device_index",
}
"""What does for the rest of the program what each context does for a block."""


class DiscardedDeviceContext(Rule):
    """`torch.cuda.device(1)` is a statement of its own."""

    code = "DEV408"
    name = "discarded-device-context"
    severity = Severity.WARNING
    summary = "A device context manager without `with` has no effect"
    unfixed = "the code that should run inside it is not known"

    def on_device_context_discarded(
        self, event: DeviceContextDiscarded, context: RuleContext
    ) -> Reports:
        """Nothing enters it, so that the device stays what it was."""
        call = event.site
        assert isinstance(call, cst.Call)
        code = context.code(call)
        if event.name == "torch.device":
            message = (
                f"`{code}` only creates a device object, which is never used: no tensor is moved"
            )
            fix: Rewrite | None = Rewrite("Remove it", (RemoveStatement(call),))
        else:
            setter = _setter(event, context.code(call.func))
            instead = f", or `{setter}(…)` for the rest of the program" * bool(setter)
            message = (
                f"`{code}` is a context manager that is never entered, so it has no effect: write "
                f"`with {code}:`{instead}"
            )
            fix = _set_for_good(call, setter) if setter else None
        yield Report(call, message, fix=fix, anywhere=True)


def _set_for_good(call: cst.Call, setter: str) -> Rewrite:
    message = f"Call `{setter}()`, which applies to the rest of the program"
    return Rewrite(message, (Replace(call.func, setter),), Safety.UNSAFE)


def _setter(event: DeviceContextDiscarded, written: str) -> str:
    """What sets for good what the context would set for a block, as the file writes its kin."""
    name = _SETTERS.get(event.name)
    prefix = written.rpartition(".")[0]
    return f"{prefix}.{name}" if name and prefix else ""
