"""Torch's own doors to an accelerator: calls that raise where there is none, and contexts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import libcst as cst

from devicelint.domain.api_events import (
    AcceleratorApiCalled,
    AmpForOneDevice,
    DeviceContextDiscarded,
)
from devicelint.domain.devices import Known
from devicelint.domain.values import (
    FALSE,
    HOST,
    NONE,
    Batch,
    Const,
    DeviceHandle,
    Flag,
    HostValue,
    LibraryObject,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import enters, function
from devicelint.interpreter.facts.device_settings import asks_for_device
from devicelint.interpreter.facts.failures import (
    doubt,
    fail,
    fail_at,
    insist,
    is_for_cuda_alone,
    note_raising,
)
from devicelint.interpreter.facts.machines.choices import is_chosen_here, note_demand, note_needed
from devicelint.interpreter.facts.named_devices import is_hard
from devicelint.interpreter.python.stdlib.argparse import default_of
from devicelint.interpreter.torch.devices.arguments import note_index
from devicelint.interpreter.torch.devices.current import make_current, on_current, while_current
from devicelint.interpreter.torch.devices.written_out import WrittenOut

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
        run.steps.index_used(argument.value)
        note_index(run, argument.value)
    last = name.rpartition(".")[2]
    if not run.assumptions:
        note_needed(run)
    raises = not (last in _CHOOSE_A_DEVICE and _is_chosen(arguments))
    if raises and run.assumptions == run.unrelated:
        note_demand(run)
        run.announce(AcceleratorApiCalled(site, name, at_times=bool(run.assumptions)))
        note_raising(run, site)
        if last in _CURRENT_DEVICE:
            run.notes(WrittenOut).current.add(site)
    if raises and (run.assumptions or not is_chosen_here(run) or is_for_cuda_alone(run)):
        if name.startswith("torch.cuda.") and run.assumptions == run.unrelated:
            fail_at(run, Known("cuda"), site)
        else:
            fail(run)
    if last in _CHOOSE_A_DEVICE:
        if not raises:
            _take_chosen(run, arguments)
        make_current(run, next((one.value for one in arguments), HOST))
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


def _take_chosen(run: Run, arguments: Arguments) -> None:
    """Somebody's choice of a device to set: a number below 0 alone raises nowhere.

    What the program works out itself, as from its rank, is none.
    """
    given = next((one.value for one in arguments), NONE)
    if isinstance(given, HostValue):
        insist(run)
    elif isinstance(given, Symbolic):
        default = default_of(run, given)
        number = default.value if isinstance(default, Const) else 0
        if isinstance(number, int) and number >= 0:
            doubt(run)
    elif isinstance(given, Unknown):
        doubt(run)


def _given(run: Run, last: str, site: cst.Call) -> Value:
    if last in _CURRENT_DEVICE and run.world.accelerators:
        return DeviceHandle(on_current(run, Known("cuda")), site, is_object=False)
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
        run.steps.index_used(argument.value)
    announce_discarded_context(run, name, site)
    given = next((one.value for one in arguments), HOST)
    is_of_device = name.endswith((".device", ".device_of", ".device_index"))
    return LibraryObject(_BLOCK, held=(given,)) if is_of_device else Unknown("a stream")


_BLOCK = "torch.cuda.device"
_FAKE = "torch._subclasses.FakeTensorMode"


@function(_FAKE, "torch._subclasses.fake_tensor.FakeTensorMode")
def fake_mode(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What a `with` block makes on any device, without one."""
    return LibraryObject(_FAKE)


@contextmanager
def _pretending(run: Run) -> Iterator[Value]:
    """Walk what goes to no device, whatever it names: nothing fails, and nothing is chosen."""
    run.assumptions += 1
    run.idle += 1
    run.switches += 1
    yield Unknown("a mode of fake tensors")
    run.assumptions -= 1
    run.idle -= 1
    run.switches -= 1


@enters(LibraryObject)
def enter_block(
    run: Run, value: LibraryObject, item: cst.WithItem
) -> AbstractContextManager[Value]:
    """`with torch.cuda.device(1)`: of a tensor, where that is."""
    if value.name == _FAKE:
        return _pretending(run)
    if value.name != _BLOCK:
        return nullcontext(Unknown("entered by with"))
    given = value.held[0]
    if isinstance(given, (Tensor, Batch)):
        given = DeviceHandle(given.device)
    return while_current(run, given)


def announce_discarded_context(run: Run, name: str, site: cst.Call) -> None:
    """Announce a context that is all that a statement has."""
    statement = run.frame.statement
    if statement in run.program.shown:
        return
    if isinstance(statement, cst.Expr) and statement.value is site:
        run.announce(DeviceContextDiscarded(site, name))


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
    if is_for_cuda and not (run.assumptions or arguments.open or _may_be_off(run, enabled)):
        note_demand(run)
        argument = None if given is None else given.site
        run.announce(AmpForOneDevice(site, name, Known("cuda"), argument))
    return Unknown("automatic mixed precision")


def _names_cuda(given: Argument | None) -> bool:
    """Whether an argument is a literal that says "cuda", and nobody's choice."""
    if given is None or not isinstance(given.value, Const) or given.value.site is not given.site:
        return False
    return given.value.value == "cuda" and is_hard(given.value)


def _may_be_off(run: Run, enabled: Argument | None) -> bool:
    """Whether the code decides by the device whether it is on, or switches it off.

    What is worked out elsewhere may be worked out from the device.
    """
    if enabled is None:
        return False
    if enabled.value == FALSE or not isinstance(enabled.value, (Const, Flag, Symbolic)):
        return True
    return isinstance(enabled.site, cst.CSTNode) and asks_for_device(run, enabled.site)
