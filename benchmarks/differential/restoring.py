"""Puts back what a program may have changed of torch and Python: the next one finds nothing."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType

import numpy
import torch
from torch.nn.modules import module
from torch.optim import optimizer

SEED = 0
_GLOBAL_HOOKS = tuple(
    hooks
    for home in (module, optimizer)
    for name, hooks in vars(home).items()
    if name.startswith("_global_") and isinstance(hooks, dict)
)
_WAITING: tuple[tuple[list[object], int], ...] = tuple(
    (vars(accelerator)["_queued_calls"], len(vars(accelerator)["_queued_calls"]))
    for accelerator in (torch.cuda, torch.xpu, torch.mtia)
)
"""What is to be done once there is a device: torch's own calls, and behind them each seed."""


def fresh() -> None:
    """Put torch's own settings and all random numbers where a new process has them."""
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.set_anomaly_enabled(False)
    torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision("highest")
    torch.set_printoptions(profile="default")
    for device in ("cpu", "cuda"):
        torch.set_autocast_enabled(device, False)
    torch.clear_autocast_cache()
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = False
    torch.serialization.clear_safe_globals()
    for hooks in _GLOBAL_HOOKS:
        hooks.clear()
    for waiting, first in _WAITING:
        del waiting[first:]
    random.seed(SEED)
    numpy.random.seed(SEED)
    torch.default_generator.manual_seed(SEED)


@contextmanager
def flags_are_free() -> Iterator[None]:
    """Let programs set the flags of backends, and put all of torch back in the end.

    torch's own testing tools, once imported anywhere in the process, forbid that elsewhere.
    """
    with torch.backends.__allow_nonbracketed_mutation():
        try:
            yield
        finally:
            fresh()


@contextmanager
def kept(main: ModuleType, environment: Mapping[str, str]) -> Iterator[None]:
    """Let a module be `__main__`, and put back what else Python keeps for the whole process."""
    before, arguments, paths = sys.modules["__main__"], sys.argv, list(sys.path)
    sys.modules["__main__"] = main
    sys.argv = [str(main.__file__)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before, arguments, paths
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
