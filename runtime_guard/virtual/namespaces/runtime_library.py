"""What scripts call of CUDA's runtime, profiler and monitor; what is made up is said once."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard.virtual.devices.names import ordinal
from runtime_guard.virtual.dispatch import syncing
from runtime_guard.virtual.namespaces.memory_numbers import account, free_and_total
from runtime_guard.virtual.namespaces.native import constant, stand_in, stand_in_all
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

SENSORS: Final = {
    "utilization": 0,
    "memory_usage": 0,
    "temperature": 40,
    "power_draw": 60_000,
    "clock_rate": 1410,
}
"""What a device that does nothing shows: percent, percent, degrees Celsius, milliwatts, MHz."""


NOT_TRACKED: Final = -2
"""What NVTX answers where no profiler counts its ranges."""


def install(patches: Patches) -> None:
    """Let sensors be read, ranges be marked and the runtime be called."""
    patches.at_reset(lambda: syncing.set_debug_mode(0))
    for module in (torch.cuda, torch.xpu):
        name = module.__name__.rpartition(".")[2]
        for sensor, value in SENSORS.items():
            if hasattr(module, sensor):
                stand_in(patches, module, sensor, name, _reading(name, sensor, value))
        if hasattr(module, "device_memory_used"):
            stand_in(patches, module, "device_memory_used", name, _used)
    for holder in (torch.cuda, torch.cuda.memory):
        stand_in(patches, holder, "list_gpu_processes", "cuda", processes)
    patches.put(torch.cuda.nvtx, "_nvtx", ranges())
    patches.put(torch.cuda, "_cudart", runtime())
    stand_in_all(patches, torch._C, "cuda", _natives())


def runtime() -> SimpleNamespace:
    """The part of CUDA's runtime that `torch.cuda.cudart()` gives; each call succeeds."""
    codes = SimpleNamespace(success=0)
    succeeding = (
        "cudaProfilerStart cudaProfilerStop cudaHostRegister cudaHostUnregister "
        "cudaStreamCreate cudaStreamDestroy"
    ).split()
    return SimpleNamespace(
        cudaError=codes,
        cudaGetErrorString=lambda code: "no error" if code == codes.success else "unknown error",
        cudaMemGetInfo=free_and_total,
        **{word: constant(codes.success) for word in succeeding},
    )


def ranges() -> SimpleNamespace:
    """The ranges of NVTX where no profiler listens: nothing is counted."""
    return SimpleNamespace(
        rangePushA=constant(NOT_TRACKED),
        rangePop=constant(NOT_TRACKED),
        rangeStartA=constant(0),
        rangeEnd=constant(None),
        markA=constant(None),
        deviceRangeStart=constant(0),
        deviceRangeEnd=constant(None),
    )


def _reading(name: str, sensor: str, value: int) -> Callable[..., int]:
    def read(device: Any = None) -> int:
        ordinal(getattr(torch, name)._utils._get_device_index(device, optional=True))
        once(sensor, f"torch.{name}.{sensor} gives the figure of an idle device")
        return value

    return read


def _used(device: Any = None) -> int:
    return account(torch._utils._get_device_index(device, optional=True)).reserved


def processes(device: Any = None) -> str:
    """The processes on a device: this one, if it has memory there."""
    index = torch._utils._get_device_index(device, optional=True)
    own = account(index)
    if not own.reserved:
        return f"GPU:{index}\nno processes are running"
    mebibytes = own.reserved / 1024**2
    return f"GPU:{index}\nprocess {os.getpid():>10d} uses {mebibytes:>12.3f} MB GPU memory"


def _compiled_version() -> int:
    major, minor = map(int, torch.version.cuda.split("."))
    return major * 1000 + minor * 10


def _natives() -> dict[str, Callable[..., Any]]:
    return {
        "_cuda_getCompiledVersion": _compiled_version,
        "_cuda_getCurrentBlasHandle": constant(4096),
        "_cuda_getCurrentSolverHandle": constant(8192),
        "_cuda_clearCublasWorkspaces": constant(None),
        "_cuda_getCublasWorkspaceSize": constant(8519680),
        "_cuda_setCublasWorkspaceSize": constant(None),
        "_cuda_resetCublasWorkspaceSize": constant(None),
        "_cuda_getCublasLtWorkspaceSize": constant(1048576),
        "_cuda_setCublasLtWorkspaceSize": constant(None),
        "_cuda_resetCublasLtWorkspaceSize": constant(None),
        "_cuda_get_cudnn_benchmark_limit": constant(10),
        "_cuda_set_cudnn_benchmark_limit": constant(None),
        "_cuda_get_conv_benchmark_empty_cache": constant(False),
        "_cuda_sleep": constant(None),
        "_cuda_set_sync_debug_mode": syncing.set_debug_mode,
        "_cuda_get_sync_debug_mode": syncing.debug_mode,
    }
