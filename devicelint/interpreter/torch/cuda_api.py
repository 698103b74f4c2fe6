"""Torch's own doors to an accelerator: calls that raise where there is none, and contexts."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.api_events import AcceleratorApiCalled, DeviceContextDiscarded
from devicelint.domain.devices import Known
from devicelint.domain.values import HOST, NONE, Const, DeviceHandle, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function

RAISING = {
    "torch.cuda": """
        set_device current_device current_stream default_stream set_stream synchronize init
        get_device_name get_device_capability get_device_properties can_device_access_peer
        Stream Event ExternalStream CUDAGraph graph make_graphed_callables MemPool
        streams.Stream streams.Event graphs.CUDAGraph graphs.graph cudart
        mem_get_info memory_summary reset_peak_memory_stats reset_max_memory_allocated
        reset_max_memory_cached reset_accumulated_memory_stats set_per_process_memory_fraction
        memory.mem_get_info memory.memory_summary memory.reset_peak_memory_stats
        get_rng_state random.get_rng_state initial_seed random.initial_seed
        ipc_collect current_blas_handle is_current_stream_capturing
        get_sync_debug_mode set_sync_debug_mode
        nvtx.range_push nvtx.range_pop nvtx.mark profiler.start profiler.stop
    """,
    "torch.mps": """
        synchronize empty_cache current_allocated_memory driver_allocated_memory
        recommended_max_memory set_per_process_memory_fraction get_rng_state seed
        compile_shader profiler.start profiler.stop
    """,
    "torch.xpu": """
        set_device current_device current_stream synchronize init Stream Event
        get_device_name get_device_capability get_device_properties
        mem_get_info reset_peak_memory_stats get_rng_state initial_seed
    """,
    "torch.accelerator": """
        current_device_index current_device_idx set_device_index set_device_idx
        current_stream synchronize empty_cache get_memory_info get_device_capability
        memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_stats
        reset_peak_memory_stats reset_accumulated_memory_stats
    """,
}
"""Calls that raise where torch has no such accelerator, as those of torch 2.13 do."""

_CHOOSE_A_DEVICE = frozenset({"set_device", "set_device_index", "set_device_idx"})


@function(*(f"{root}.{name}" for root, names in RAISING.items() for name in names.split()))
def call_accelerator(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What the code asks of an accelerator, whatever the machine has."""
    for argument in arguments:
        run.steps.used_as_index(argument.value)
    last = name.rpartition(".")[2]
    if not run.assumptions and not (last in _CHOOSE_A_DEVICE and _is_chosen(arguments)):
        run.demands_accelerator = True
        run.announce(AcceleratorApiCalled(site, name))
    return _given(run, last, site)


_CURRENT_DEVICE = frozenset({"current_device", "current_device_index", "current_device_idx"})


def _is_chosen(arguments: Arguments) -> bool:
    """Whether it is somebody's choice which device to set: a rank, a setting, none at all."""
    for argument in arguments:
        value = argument.value
        if isinstance(value, DeviceHandle):
            return not isinstance(value.device, Known)
        if isinstance(value, Const) and isinstance(value.value, (int, str)):
            return isinstance(value.value, int) and value.value < 0
    return True


def _given(run: Run, last: str, site: cst.Call) -> Value:
    if last in _CURRENT_DEVICE and run.world.accelerators:
        return DeviceHandle(Known("cuda"), site, is_object=False)
    if last in _CHOOSE_A_DEVICE or last in ("synchronize", "empty_cache", "init"):
        return NONE
    return HOST if last.endswith(("_allocated", "_reserved", "seed")) else Unknown(last)


@function(
    "torch.cuda.device",
    "torch.cuda.device_of",
    "torch.cuda.stream",
    "torch.cuda.StreamContext",
    "torch.xpu.device",
    "torch.xpu.device_of",
    "torch.xpu.stream",
    "torch.accelerator.device_index",
)
def device_context(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The current device of a `with` block, which nothing but the block sets."""
    for argument in arguments:
        run.steps.used_as_index(argument.value)
    announce_discarded_context(run, name, site)
    return Unknown("the current device of a block")


def announce_discarded_context(run: Run, name: str, site: cst.Call) -> None:
    """Announce a context that is all that a statement has."""
    statement = run.frame.statement
    if statement in run.program.shown:
        return
    if isinstance(statement, cst.Expr) and statement.value is site:
        run.announce(DeviceContextDiscarded(site, name))
