"""Which device is current, how many there are, and how their use begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch
from torch import accelerator

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.devices.names import ordinal
from runtime_guard.virtual.namespaces.native import (
    constant,
    put_all,
    speaks,
    stand_in,
    stand_in_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

ARCHITECTURES: Final = {"cuda": "sm_75 sm_80 sm_86 sm_90", "xpu": "pvc"}
"""What the build says that it has kernels for."""

DTYPES: Final = (
    "uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex32 complex64 complex128 bool float8_e4m3fn float8_e5m2"
).split()
"""What tensors of an accelerator can hold; of MPS, all but `NOT_ON_MPS`."""

NOT_ON_MPS: Final = frozenset({"float64", "complex128", "float8_e4m3fn", "float8_e5m2"})

_BARE: Final = {name: torch.device(name) for name in ("cuda", "mps", "xpu")}


def install(patches: Patches) -> None:
    """Let torch find, choose and initialise the machine's devices."""
    for name in ("cuda", "xpu"):
        module = getattr(torch, name)
        stand_in_all(patches, torch._C, name, _natives(name))
        put_all(patches, torch._C, _always(name))
        for holder in (module, module.random, module.memory):
            stand_in(patches, holder, "is_initialized", name, _in_use(module))
        for holder in (module, module.random):
            patches.put(holder, "device_count", counting(name))
            stand_in(patches, holder, "_lazy_call", name, _at_once(module))
        _begin_anew(patches, module, name)
    patches.put(torch.xpu, "_is_compiled", lambda: speaks("xpu"))
    stand_in_all(patches, torch._C, None, _accelerator())
    stand_in(patches, accelerator, "get_device_capability", None, capability)


def counting(name: str) -> Callable[[], int]:
    """`device_count`: torch's own keeps what it found, and a nested block has other devices."""

    def device_count() -> int:
        """Return the number of accelerators available."""
        return len(machine().devices) if speaks(name) else 0

    return device_count


def exchange(index: int) -> int:
    """Make a device current, and return which one was; a negative index changes nothing."""
    if index < 0:
        return -1
    former = machine().current
    choose(index)
    return former


def choose(index: int) -> None:
    """Make a device current in this thread.

    Raises:
        torch.AcceleratorError: there is none of this index.
    """
    machine().current = ordinal(index).index


def current() -> int:
    """The index of this thread's current device."""
    return machine().current


def capability(device: Any = None, /) -> dict[str, set[torch.dtype]]:
    """The dtypes that a device has; torch's own keeps its answers, which would outlive a block."""
    accelerator._utils._get_device_index(device, optional=True)
    lacks = NOT_ON_MPS if machine().name == "mps" else frozenset()
    return {"supported_dtypes": {getattr(torch, name) for name in DTYPES if name not in lacks}}


def _natives(name: str) -> dict[str, Callable[..., Any]]:
    """What asks for a device, of the functions below `torch.cuda` or `torch.xpu`."""
    table: dict[str, Callable[..., Any]] = {
        "init": constant(None),
        "getDevice": current,
        "setDevice": _choosing(name),
        "exchangeDevice": exchange,
        "maybeExchangeDevice": exchange,
        "synchronize": _known,
        "canDeviceAccessPeer": lambda one, other: ordinal(one) != ordinal(other),
        "hasPrimaryContext": lambda index: index == current(),
    }
    return {f"_{name}_{attribute}": function for attribute, function in table.items()}


def _choosing(name: str) -> Callable[[int], None]:
    """`set_device`, in C++: it is a use of the device."""

    def set_device(index: int) -> None:
        getattr(torch, name)._lazy_init()
        choose(index)

    return set_device


def _always(name: str) -> dict[str, Callable[..., Any]]:
    """What answers on any machine: there may be no device."""
    return {
        f"_{name}_getDeviceCount": counting(name),
        f"_{name}_getArchFlags": lambda: ARCHITECTURES[name] if speaks(name) else None,
    }


def _known(index: int | None = None) -> None:
    if index is not None:
        ordinal(index)


def _at_once(module: Any) -> Callable[..., None]:
    """`_lazy_call`: what waits for the first use of a device need not, where there is no driver.

    Seeding a device is not using it: a process that only did so can still be forked.
    """

    def _lazy_call(callable: Callable[[], None], **_options: Any) -> None:  # noqa: A002 - as torch's
        if hasattr(module._tls, "is_initializing"):
            callable()
            return
        module._tls.is_initializing = True
        try:
            callable()
        finally:
            del module._tls.is_initializing

    return _lazy_call


def _in_use(module: Any) -> Callable[[], bool]:
    """`is_initialized`: what C++ would initialise is in use once a tensor was placed there."""

    def is_initialized() -> bool:
        asked = machine().is_used
        return (asked or module._initialized) and not module._is_in_bad_fork()

    return is_initialized


def _begin_anew(patches: Patches, module: Any, name: str) -> None:
    """Let no device be in use yet, and let what waited for that wait on after the block."""
    begins: dict[str, Callable[[], Any]] = {
        "_initialized": bool,
        "_queued_calls": list,
        "_lazy_seed_tracker": torch._utils._LazySeedTracker,
    }
    for attribute, make in begins.items():
        patches.put(module, attribute, make())

    def begin() -> None:
        for attribute, make in begins.items():
            setattr(module, attribute, make())

    patches.at_reset(begin)
    for attribute in ("_exchange_device", "_maybe_exchange_device"):
        stand_in(patches, module, attribute, name, exchange)


def _accelerator() -> dict[str, Callable[..., Any]]:
    """What `torch.accelerator` is made of, but for streams and memory."""
    return {
        "_accelerator_getAccelerator": _bare,
        "_get_accelerator": _bare,
        "_accelerator_getDeviceIndex": current,
        "_accelerator_setDeviceIndex": lambda index: exchange(index) and None,
        "_accelerator_exchangeDevice": exchange,
        "_accelerator_maybeExchangeDevice": exchange,
        "_accelerator_synchronizeDevice": _known,
        "_accelerator_hooks_device_count": lambda: len(machine().devices),
        "_accelerator_hooks_get_current_device": current,
        "_accelerator_hooks_set_current_device": choose,
        "_accelerator_hooks_exchange_device": exchange,
        "_accelerator_hooks_maybe_exchange_device": exchange,
    }


def _bare(_check: bool | None = None) -> torch.device:
    return _BARE[machine().name]
