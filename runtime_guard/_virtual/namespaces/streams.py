"""Streams and events: work is done when it is asked for, so that nothing is ever waited for."""

from __future__ import annotations

import itertools
import threading
import time
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import torch

from runtime_guard._virtual.devices import ordinal, resolved
from runtime_guard._virtual.machine import machine
from runtime_guard._virtual.namespaces.native import constant, stand_in, stand_in_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard._virtual.machine import Machine
    from runtime_guard._virtual.patching import Patches

KINDS: Final = {"cuda": 1, "xpu": 12, "mps": 13}
"""The numbers of the types of devices (c10/core/DeviceType.h)."""

POINTER: Final = {"cuda": "cuda_stream", "xpu": "sycl_queue", "mps": "native_handle"}
"""What a stream of each calls the address of its queue."""

DIFFERENT_DEVICES: Final = "Event device {0} does not match recording stream's device {1}."
NOT_TIMED: Final = "Both events must be created with argument 'enable_timing=True'."
NOT_RECORDED: Final = "Both events must be recorded before calculating elapsed time."

PROTOCOL: Final = ("__init__", "__eq__", "__hash__", "__enter__", "__exit__")
"""What Python calls of a stream or an event."""

_numbers = itertools.count(1)


class _Chosen(threading.local):
    """The numbers of this thread's current streams, by machine and index."""

    def __init__(self) -> None:
        self.machines: WeakKeyDictionary[Machine, dict[int, int]] = WeakKeyDictionary()

    def streams(self) -> dict[int, int]:
        """Those of the machine in effect; a device that is not named has its default stream."""
        return self.machines.setdefault(machine(), {})


_chosen = _Chosen()


class _StreamKind(type):
    """Lets the streams of `torch.cuda` and `torch.xpu` be instances of `torch.Stream`."""

    def __instancecheck__(cls, instance: object) -> bool:
        native = (torch._C._CudaStreamBase, torch._C._XpuStreamBase, torch._C.Stream)
        return type.__instancecheck__(cls, instance) or isinstance(instance, native)


class _EventKind(type):
    """Lets the events of `torch.cuda` and `torch.xpu` be instances of `torch.Event`."""

    def __instancecheck__(cls, instance: object) -> bool:
        native = (torch._C._CudaEventBase, torch._C._XpuEventBase, torch._C.Event)
        return type.__instancecheck__(cls, instance) or isinstance(instance, native)


class Stream(metaclass=_StreamKind):
    """A queue of work of one device; `torch.Stream` inside the block."""

    def __new__(cls, device: Any = None, *, priority: int = 0, **more: Any) -> Any:
        """Make a new one on a device, or speak of one that is by its three numbers."""
        if more.get("device_type"):
            return _identified(super().__new__(cls), **more)
        here = resolved(machine().name if device is None else device)
        made = super().__new__(cls)
        return _identified(made, 0, here.index, KINDS[here.type], priority=priority, fresh=True)

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        """Nothing is left to do."""

    def query(self) -> bool:
        """Whether all work is done."""
        return True

    def synchronize(self) -> None:
        """Wait for all work."""

    def is_capturing(self) -> bool:
        """Whether a graph is captured."""
        return False

    def wait_event(self, event: Any) -> None:
        """Let later work wait for an event."""

    def wait_stream(self, stream: Any) -> None:
        """Let later work wait for another stream's."""

    def record_event(self, event: Any = None) -> Any:
        """Record an event here, a new one if none is given."""
        made = Event(self.device) if event is None else event  # type: ignore[attr-defined]
        made.record(self)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and _identity(self) == _identity(other)

    def __hash__(self) -> int:
        return hash(_identity(self))

    def __enter__(self) -> Any:
        identity = _identity(self)
        self._former = (machine().current, number(identity[1]))
        choose(*identity)
        return self

    def __exit__(self, *_error: object) -> None:
        index, former = self._former
        _chosen.streams()[_identity(self)[1]] = former
        machine().current = index

    def __repr__(self) -> str:
        return f"torch.Stream device_type={self.device.type}, device_index={self.device.index}, stream_id={self.stream_id}"  # type: ignore[attr-defined]  # noqa: E501 - torch's text


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
    """Let streams and events be made and chosen."""
    for name, capital in (("cuda", "Cuda"), ("xpu", "Xpu")):
        _fill(patches, getattr(torch._C, f"_{capital}StreamBase"), Stream, _native_stream(name))
        _fill(patches, getattr(torch._C, f"_{capital}EventBase"), Event, _native_event(name))
        stand_in_all(patches, torch._C, name, _choosing(name))
    patches.put(torch, "Stream", Stream)
    patches.put(torch, "Event", Event)
    stand_in(patches, torch._C, "_accelerator_getStream", None, _current_stream)
    stand_in(patches, torch._C, "_accelerator_setStream", None, lambda one: choose(*_identity(one)))


def _fill(patches: Patches, base: type, model: type, new: Callable[..., Any]) -> None:
    """Give a dummy base class of torch what its instances need."""
    for attribute, value in vars(model).items():
        if attribute in PROTOCOL or not attribute.startswith("__"):
            patches.put(base, attribute, value)
    patches.put(base, "__new__", staticmethod(new))
    patches.put(base, "priority_range", staticmethod(constant((0, -5))))


def _native_stream(name: str) -> Callable[..., Any]:
    def new(
        cls: type,
        priority: int = 0,
        stream_id: int = 0,
        device_index: int = 0,
        device_type: int = 0,
        stream_ptr: int = 0,
    ) -> Any:
        made: Any = object.__new__(cls)
        if stream_ptr:
            return _identified(made, stream_ptr, machine().current, KINDS[name])
        if device_type or stream_id or device_index:
            return _identified(made, stream_id, device_index, KINDS[name])
        here = machine().current
        return _identified(made, 0, here, KINDS[name], priority=priority, fresh=True)

    return new


def _native_event(name: str) -> Callable[..., Any]:
    def new(cls: type, enable_timing: bool = False, **_more: Any) -> Any:
        made: Any = object.__new__(cls)
        setattr(made, "cuda_event" if name == "cuda" else "sycl_event", 0)
        made.device = None
        return _unrecorded(made, enable_timing=enable_timing)

    return new


def _identified(
    stream: Any,
    stream_id: int,
    device_index: int,
    device_type: int,
    *,
    priority: int = 0,
    fresh: bool = False,
) -> Any:
    """Say which stream this is; a fresh one gets a number that no other has."""
    name = next(name for name, number in KINDS.items() if number == device_type)
    stream.stream_id = next(_numbers) * 4096 if fresh else stream_id
    stream.device = ordinal(device_index)
    stream.device_index = device_index
    stream.device_type = device_type
    stream.priority = min(priority, 0)
    setattr(stream, POINTER[name], stream.stream_id)
    return stream


def _identity(stream: Any) -> tuple[int, int, int]:
    return stream.stream_id, stream.device_index, stream.device_type


def choose(stream_id: int, device_index: int, device_type: int) -> None:
    """Make a stream its device's current one in this thread, and its device the current one."""
    index = ordinal(device_index).index
    _chosen.streams()[index] = stream_id
    machine().current = index


def number(index: int) -> int:
    """The number, and the address, of a device's current stream; 0 is the default stream's."""
    return _chosen.streams().get(ordinal(index).index, 0)


def _choosing(name: str) -> dict[str, Callable[..., Any]]:
    kind = KINDS[name]
    table: dict[str, Callable[..., Any]] = {
        "getCurrentStream": lambda index: (number(index), ordinal(index).index, kind),
        "getDefaultStream": lambda index: (0, ordinal(index).index, kind),
        "getStreamFromExternal": lambda address, index: (address, ordinal(index).index, kind),
        "getCurrentRawStream": number,
        "setStream": choose,
    }
    return {f"_{name}_{attribute}": function for attribute, function in table.items()}


def _current_stream(index: int) -> Stream:
    kind = KINDS[machine().name]
    found: Stream = Stream(stream_id=number(index), device_index=index, device_type=kind)
    return found


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
    event._address = event._address or next(_numbers) * 4096
    for attribute in ("cuda_event", "sycl_event"):
        if hasattr(event, attribute):
            setattr(event, attribute, event._address)


def elapsed(begin: Any, end: Any) -> float:
    """The milliseconds between two events.

    Raises:
        ValueError: one cannot tell the time, or was not recorded; the texts are CUDA's
            (ATen/cuda/CUDAEvent.h).
    """
    if not (begin._timed and end._timed):
        raise ValueError(NOT_TIMED)
    if begin._moment is None or end._moment is None:
        raise ValueError(NOT_RECORDED)
    milliseconds: float = (end._moment - begin._moment) * 1000
    return milliseconds
