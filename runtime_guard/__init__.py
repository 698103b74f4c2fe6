"""Guards PyTorch training runs: every module call finds its inputs on the module's device.

    with runtime_guard.guard(model):
        train(model)

Importing this package does not import torch. `RUNTIME_GUARD` in the environment is honoured:
`check`, `warn` and `move` guard every module of the process, `explain` explains errors alone.

PYTEST_DONT_REWRITE: where the environment asks for it, this is imported before pytest.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from runtime_guard.errors import (
    DeviceMismatchError,
    DeviceMismatchWarning,
    PlacementWarning,
    VirtualGpuWarning,
)
from runtime_guard.launcher.activation import activate_from_environment

if TYPE_CHECKING:
    from runtime_guard.hooks.guard import Guard, guard
    from runtime_guard.hooks.install import install
    from runtime_guard.messages.excepthooks import explain
    from runtime_guard.mismatch import Mismatch
    from runtime_guard.placement.placement import Placement, report
    from runtime_guard.profiler.recorder import Recorder, record
    from runtime_guard.virtual.block import VirtualGpu, virtual_gpu

__all__ = [
    "DeviceMismatchError",
    "DeviceMismatchWarning",
    "Guard",
    "Mismatch",
    "Placement",
    "PlacementWarning",
    "Recorder",
    "VirtualGpu",
    "VirtualGpuWarning",
    "explain",
    "guard",
    "install",
    "record",
    "report",
    "virtual_gpu",
]

# Where each name is found when it is first asked for: most of them need torch.
_HOMES = {
    "Guard": "hooks.guard",
    "Mismatch": "mismatch",
    "Placement": "placement.placement",
    "Recorder": "profiler.recorder",
    "VirtualGpu": "virtual.block",
    "explain": "messages.excepthooks",
    "guard": "hooks.guard",
    "install": "hooks.install",
    "record": "profiler.recorder",
    "report": "placement.placement",
    "virtual_gpu": "virtual.block",
}
_FREE_OF_TORCH = frozenset({"Mismatch", "explain"})


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        if name not in _FREE_OF_TORCH:
            # Before any module of ours: what begins with torch finds them whole.
            importlib.import_module("torch")
        home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        needs = f"{__name__}.{name} needs PyTorch: pip install 'devicelint[guard]'"
        raise ImportError(needs, name="torch") from None
    value: object = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


activate_from_environment()
