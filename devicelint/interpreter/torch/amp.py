"""Automatic mixed precision: for which type of device it is written."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.api_events import AmpForOneDevice
from devicelint.domain.devices import Known
from devicelint.domain.values import FALSE, Const, Flag, Outside, Unknown, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.facts.device_words import asks_for_device
from devicelint.interpreter.torch.device_arguments import is_hard

AUTOCASTS = ("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
CUDA_AUTOCASTS = ("torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
SCALERS = ("torch.amp.GradScaler", "torch.amp.grad_scaler.GradScaler")
CUDA_SCALERS = ("torch.cuda.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler")

ENABLED_AT = {
    **dict.fromkeys(AUTOCASTS, 2),
    **dict.fromkeys(CUDA_AUTOCASTS, 0),
    **dict.fromkeys(SCALERS, 5),
    **dict.fromkeys(CUDA_SCALERS, 4),
}
"""Where each of them takes `enabled`."""
_FOR_CUDA_UNLESS_TOLD = (*CUDA_AUTOCASTS, *CUDA_SCALERS, *SCALERS)


@function(*ENABLED_AT)
def mixed_precision(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """One that is for CUDA alone, and not switched off elsewhere by the code itself."""
    given = None
    if name not in (*CUDA_AUTOCASTS, *CUDA_SCALERS):
        given = arguments.get(0, "device_type" if name in AUTOCASTS else "device")
    is_for_cuda = _names_cuda(given) or (given is None and name in _FOR_CUDA_UNLESS_TOLD)
    enabled = arguments.get(ENABLED_AT[name], "enabled")
    if is_for_cuda and not (run.assumptions or arguments.open or _may_be_off(enabled)):
        run.demands_accelerator = True
        argument = None if given is None else given.site
        run.announce(AmpForOneDevice(site, name, Known("cuda"), argument))
    return Unknown("automatic mixed precision")


def _names_cuda(given: Argument | None) -> bool:
    """Whether an argument is a literal that says "cuda", and nobody's choice."""
    if given is None or not isinstance(given.value, Const) or given.value.site is not given.site:
        return False
    return given.value.value == "cuda" and is_hard(given.value)


def _may_be_off(enabled: Argument | None) -> bool:
    """Whether the code decides by the device whether it is on, or switches it off.

    What is worked out elsewhere may be worked out from the device.
    """
    if enabled is None:
        return False
    if enabled.value == FALSE or not isinstance(enabled.value, (Const, Flag, Outside)):
        return True
    return isinstance(enabled.site, cst.CSTNode) and asks_for_device(enabled.site)
