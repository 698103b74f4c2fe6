"""What constructors are told by those who call them: a device that nobody gives is no choice."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.api_events import PartMadeElsewhere
from devicelint.domain.history import Site
from devicelint.domain.values import Const, DeviceHandle, HostValue, Value
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.nodes import parameters_of
from devicelint.interpreter.facts.named_devices import names_accelerator


@analysis
class ToldDevices(Analysis):
    """Notes which parameters of constructors the calls of a file give something to."""

    serves = frozenset({PartMadeElsewhere})

    def on_entered(self, frame: Frame) -> None:
        """The parameters of a constructor are bound; None and numbers say nothing of a device."""
        node, conduct = frame.node, self.run.program.conduct
        if frame.name != "__init__" or frame.site is None or not frame.is_checked:
            return
        for parameter in parameters_of(node) if isinstance(node, cst.FunctionDef) else ():
            value = self.run.state.read(frame.ref, parameter.name.value)
            if not isinstance(value, (Const, HostValue)) or names_accelerator(value):
                conduct.told.setdefault(parameter, set()).add(_given_on(frame, value))


def _given_on(frame: Frame, value: Value | None) -> Site:
    """The parameter of the calling constructor that is given on; None for anything else."""
    caller = frame.caller
    node = caller.node if caller is not None and caller.name == "__init__" else None
    device = value.device if isinstance(value, DeviceHandle) else None
    origin = getattr(value if device is None else device, "origin", None)
    own = parameters_of(node) if isinstance(node, cst.FunctionDef) else ()
    return next((one for one in own if one.name.value == origin), None)
