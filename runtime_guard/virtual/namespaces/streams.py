"""Streams and events: work is done when it is asked for, so that nothing is ever waited for."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import torch

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.devices.names import ordinal, resolved
from runtime_guard.virtual.dispatch.syncing import report
from runtime_guard.virtual.namespaces.events import Event
from runtime_guard.virtual.namespaces.native import fill, stand_in, stand_in_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.devices.machine import Machine
    from runtime_guard.virtual.patching import Patches

KINDS: Final = {"cuda": 1, "xpu": 12, "mps": 13}
"""The numbers of the types of devices (c10/core/DeviceType.h)."""

POINTER: Final = {"cuda": "cuda_stream", "xpu": "sycl_queue", "mps": "native_handle"}
"""What a stream of each calls the address of its queue."""

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


class Stream(metaclass=_StreamKind):
    """A queue of work of one device; `torch.Stream` inside the block."""

    def __new__(cls, device: Any = None, priority: int = 0, **more: Any) -> Any:
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
        report()

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The lowest and the highest priority."""
        return 0, -5

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
        if not isinstance(other, Stream) or (type(self) is Stream) is not (type(other) is Stream):
            # A stream of `torch.cuda` is no equal of the same one as `torch.accelerator` gives it.
            return False
        return _identity(self) == _identity(other)

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


def install(patches: Patches) -> None:
    """Let streams be made and chosen."""
    own = {
        name: value
        for name, value in vars(Stream).items()
        if name in PROTOCOL or not name.startswith("__")
    }
    for name, capital in (("cuda", "Cuda"), ("xpu", "Xpu")):
        parts = {**own, "__new__": staticmethod(_native_stream(name))}
        if not fill(patches, getattr(torch._C, f"_{capital}StreamBase"), parts):
            module = getattr(torch, name)
            made = type("Stream", (Stream,), {"__module__": module.__name__})
            for holder in (module, module.streams):
                patches.put(holder, "Stream", made)
        stand_in_all(patches, torch._C, name, _choosing(name))
    patches.put(torch, "Stream", Stream)
    stand_in(patches, torch._C, "_accelerator_getStream", None, _current_stream)
    stand_in(patches, torch._C, "_accelerator_setStream", None, lambda one: choose(*_identity(one)))


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
