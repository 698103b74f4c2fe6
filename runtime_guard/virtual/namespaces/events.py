"""Events: moments on the host's clock, as nothing is ever waited for."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.devices.names import ordinal, resolved
from runtime_guard.virtual.namespaces.native import fill

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

DIFFERENT_DEVICES: Final = "Event device {0} does not match recording stream's device {1}."
NOT_TIMED: Final = "Both events must be created with argument 'enable_timing=True'."
NOT_RECORDED: Final = "Both events must be recorded before calculating elapsed time."

_addresses = itertools.count(4096, 4096)


class _EventKind(type):
    """Lets the events of `torch.cuda` and `torch.xpu` be instances of `torch.Event`."""

    def __instancecheck__(cls, instance: object) -> bool:
        native = (torch._C._CudaEventBase, torch._C._XpuEventBase, torch._C.Event)
        return type.__instancecheck__(cls, instance) or isinstance(instance, native)


class Event(metaclass=_EventKind):
    """A moment in a stream; `torch.Event` inside the block."""

    def __new__(cls, device: Any = None, *, enable_timing: bool = False, **_more: Any) -> Any:
        """Make one that is not recorded yet."""
        made: Any = super().__new__(cls)
        made.device = resolved(machine().name if device is None else device)
        return _unrecorded(made, enable_timing=enable_timing)

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        """Nothing is left to do."""

    def record(self, stream: Any = None) -> None:
        """Record the event in a stream; the current one if none is given."""
        _record(self, stream)

    def wait(self, stream: Any = None) -> None:
        """Let later work of a stream wait for the event."""

    def query(self) -> bool:
        """Whether all work before the event is done."""
        return True

    def synchronize(self) -> None:
        """Wait for the event."""

    def elapsed_time(self, end_event: Any) -> float:
        """The milliseconds from this event to the other."""
        return elapsed(self, end_event)

    @property
    def event_id(self) -> int:
        """Its address; 0 before it is recorded."""
        return self._address  # type: ignore[attr-defined,no-any-return]


def install(patches: Patches) -> None:
    """Let events be made and recorded."""
    own = {name: value for name, value in vars(Event).items() if not name.startswith("__")}
    for name, capital in (("cuda", "Cuda"), ("xpu", "Xpu")):
        new = _native_event(name)
        parts = {**own, "__init__": Event.__init__, "__new__": staticmethod(new)}
        if not fill(patches, getattr(torch._C, f"_{capital}EventBase"), parts):
            module = getattr(torch, name)
            made = type("Event", (Event,), {"__new__": new, "__module__": module.__name__})
            for holder in (module, module.streams):
                patches.put(holder, "Event", made)
    patches.put(torch, "Event", Event)


def _native_event(name: str) -> Callable[..., Any]:
    def new(cls: type, enable_timing: bool = False, **_more: Any) -> Any:
        made: Any = object.__new__(cls)
        setattr(made, "cuda_event" if name == "cuda" else "sycl_event", 0)
        made.device = None
        return _unrecorded(made, enable_timing=enable_timing)

    return new


def _unrecorded(event: Any, *, enable_timing: bool) -> Any:
    event._timed = enable_timing
    event._moment = None
    event._address = 0
    return event


def _record(event: Any, stream: Any) -> None:
    device = ordinal(machine().current) if stream is None else stream.device
    if event.device is not None and event.device != device and event._moment is not None:
        raise RuntimeError(DIFFERENT_DEVICES.format(event.device.index, device.index))
    event.device = device
    event._moment = time.perf_counter()
    event._address = event._address or next(_addresses)
    for attribute in ("cuda_event", "sycl_event"):
        if hasattr(event, attribute):
            setattr(event, attribute, event._address)


def elapsed(begin: Any, end: Any) -> float:
    """The milliseconds between two events.

    Raises:
        ValueError: one cannot give the time, or was not recorded; the texts are CUDA's
            (ATen/cuda/CUDAEvent.h).
    """
    if not (begin._timed and end._timed):
        raise ValueError(NOT_TIMED)
    if begin._moment is None or end._moment is None:
        raise ValueError(NOT_RECORDED)
    milliseconds: float = (end._moment - begin._moment) * 1000
    return milliseconds
