"""What of these namespaces is not modelled, and what happens instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard.virtual.namespaces.native import constant, fill, stand_in, stand_in_all
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

UNMODELLED: Final = {
    "CUDA_VISIBLE_DEVICES": "is not read: the machine has the devices that you request",
    "torch.accelerator.Graph": "cannot be captured: torch's own error is raised",
    "torch.cuda.CUDAGraph": "captures nothing: the code runs at once, and `replay` raises",
    "torch.cuda.CUDAPluggableAllocator": "raises RuntimeError",
    "torch.cuda.Event.elapsed_time": "returns the time on the host",
    "torch.cuda.Event.ipc_handle": "raises RuntimeError",
    "torch.cuda.GreenContext": "raises RuntimeError, as if the driver did not support it",
    "torch.cuda.change_current_allocator": "raises RuntimeError",
    "torch.cuda.clock_rate": "gives the figure of an idle device",
    "torch.cuda.cudart": "only has memory, the profiler, and functions that return success",
    "torch.cuda.gds": "raises RuntimeError",
    "torch.cuda.get_rng_state": "has the length and the numbers of the CPU generator's state",
    "torch.cuda.graph": "runs its body at once",
    "torch.cuda.jiterator": "raises RuntimeError",
    "torch.cuda.make_graphed_callables": "returns its arguments",
    "torch.cuda.MemPool": "holds nothing: the memory of a device is counted as a whole",
    "torch.cuda.memory._record_memory_history": "records nothing",
    "torch.cuda.memory_allocated": "counts bytes exactly, but none that only a backward pass holds",
    "torch.cuda.memory_snapshot": "is empty",
    "torch.cuda.memory_usage": "gives the figure of an idle device",
    "torch.cuda.nccl": "has a version, but its collectives raise RuntimeError",
    "torch.cuda.power_draw": "gives the figure of an idle device",
    "torch.cuda.temperature": "gives the figure of an idle device",
    "torch.cuda.tunable": "is off and cannot be turned on",
    "torch.cuda.use_mem_pool": "changes nothing",
    "torch.cuda.utilization": "gives the figure of an idle device",
    "torch.mps.compile_shader": "raises RuntimeError",
    "torch.mps.load_metallib": "raises RuntimeError",
    "torch.mps.profiler": "traces nothing",
    "torch.xpu.MemPool": "holds nothing: the memory of a device is counted as a whole",
    "torch.xpu.XPUGraph": "captures nothing: the code runs at once, and `replay` raises",
    "torch.xpu.XPUPluggableAllocator": "raises RuntimeError",
    "torch.xpu.change_current_allocator": "raises RuntimeError",
    "torch.xpu.clock_rate": "gives the figure of an idle device",
    "torch.xpu.graph": "runs its body at once",
    "torch.xpu.make_graphed_callables": "returns its arguments",
    "torch.xpu.memory_snapshot": "is empty",
    "torch.xpu.memory_usage": "gives the figure of an idle device",
    "torch.xpu.power_draw": "gives the figure of an idle device",
    "torch.xpu.temperature": "gives the figure of an idle device",
    "torch.xpu.use_mem_pool": "changes nothing",
    "torch.xpu.utilization": "gives the figure of an idle device",
}
"""By name, as a program writes it: what happens, as the rest of a sentence that it begins."""

REFUSED: Final = {
    "_cuda_customAllocator": "torch.cuda.CUDAPluggableAllocator",
    "_cuda_changeCurrentAllocator": "torch.cuda.change_current_allocator",
    "_cuda_getAllocator": "torch.cuda.change_current_allocator",
    "_cuda_jiterator_compile_and_launch_kernel": "torch.cuda.jiterator",
    "_nccl_all_reduce": "torch.cuda.nccl.all_reduce",
    "_nccl_reduce": "torch.cuda.nccl.reduce",
    "_nccl_broadcast": "torch.cuda.nccl.broadcast",
    "_nccl_all_gather": "torch.cuda.nccl.all_gather",
    "_nccl_reduce_scatter": "torch.cuda.nccl.reduce_scatter",
    "_nccl_unique_id": "torch.cuda.nccl.unique_id",
    "_nccl_init_rank": "torch.cuda.nccl.init_rank",
    "_xpu_customAllocator": "torch.xpu.XPUPluggableAllocator",
    "_xpu_changeCurrentAllocator": "torch.xpu.change_current_allocator",
    "_xpu_getAllocator": "torch.xpu.change_current_allocator",
    "_mps_compileShader": "torch.mps.compile_shader",
    "_mps_loadMetalllib": "torch.mps.load_metallib",
    "_mps_loadMetallibFromPath": "torch.mps.load_metallib",
}
"""What raises, by its function in torch's C extension."""

TUNING: Final = {
    "_cuda_tunableop_is_enabled": False,
    "_cuda_tunableop_tuning_is_enabled": False,
    "_cuda_record_untuned_is_enabled": False,
    "_cuda_tunableop_get_max_tuning_duration": 30,
    "_cuda_tunableop_get_max_tuning_iterations": 100,
    "_cuda_tunableop_get_filename": "tunableop_results.csv",
    "_cuda_tunableop_get_results": (),
    "_cuda_tunableop_get_validators": (),
    "_cuda_tunableop_get_rotating_buffer_size": 0,
    "_cuda_tunableop_read_file": False,
}
"""What `torch.cuda.tunable` is given."""

TUNED: Final = """
    tunableop_enable tunableop_tuning_enable record_untuned_enable tunableop_set_max_tuning_duration
    tunableop_set_max_tuning_iterations tunableop_set_filename tunableop_set_rotating_buffer_size
    tunableop_set_numerical_check_tolerances
""".split()
"""What would change it."""


def install(patches: Patches) -> None:
    """Let what is not modelled say so."""
    for attribute, public in REFUSED.items():
        name = public.split(".")[1]
        stand_in(patches, torch._C, attribute, name, _refuse(public))
    shared = ("ipc_handle", "from_ipc_handle")
    parts = {word: staticmethod(_refuse(f"torch.cuda.Event.{word}")) for word in shared}
    fill(patches, torch._C._CudaEventBase, parts)
    tuning = {attribute: constant(value) for attribute, value in TUNING.items()}
    stand_in_all(patches, torch._C, "cuda", tuning)
    for word in TUNED:
        stand_in(patches, torch._C, f"_cuda_{word}", "cuda", _stay)


def _refuse(public: str) -> Callable[..., Any]:
    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise RuntimeError(f"the virtual GPU does not model {public}")

    return refuse


def _stay(*_args: Any) -> None:
    once("tunable", "torch.cuda.tunable is off and cannot be turned on")
