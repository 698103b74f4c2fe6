"""Wraps a method of torch so that calls which move data are reported to the listeners.

A call inside another watched call is part of that one. A tensor on the CPU whose value is read
goes straight through, and so does whatever is being compiled.
"""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter_ns
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.compiler import is_compiling
from torch.cuda import is_initialized
from torch.overrides import has_torch_function, has_torch_function_unary

from runtime_guard.profiler.recording.clock import Timing, started
from runtime_guard.profiler.recording.probes import Probe, Transfer
from runtime_guard.profiler.recording.sites import Site, site_of

Function = Callable[..., Any]


class Sighting(NamedTuple):
    """One transfer, and where it was asked for; times are those of `perf_counter_ns`."""

    site: Site
    op: str
    transfer: Transfer
    began: int
    ended: int
    timing: Timing | None
    thread: int


Listener = Callable[[Sighting], None]
listeners: list[Listener] = []


class Nesting(threading.local):
    """What calls inside a watched call of this thread have moved; None outside one."""

    inside: dict[tuple[str, str], int] | None = None


nesting = Nesting()
# Devices are read without telling the program's own torch functions and modes.
unseen = getattr(torch._C, "DisableTorchFunction", torch._C.DisableTorchFunctionSubclass)
as_it_is = nullcontext()


def watch_reads(original: Function, op: str, probe: Probe) -> Function:
    """Wrap a method that hands a value to Python."""

    def watched(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if (not has_torch_function_unary(self) and self.is_cpu) or is_compiling():
            return original(self, *args, **kwargs)
        return observed(original, op, probe, (self, *args), kwargs)

    functools.update_wrapper(watched, original)
    return watched


def watch_items(original: Function, op: str, probe: Probe) -> Function:
    """Wrap access by index. Between tensors on the CPU nothing happens."""

    def watched(self: Tensor, index: Any, *value: Any) -> Any:
        if (
            not has_torch_function_unary(self)
            and self.is_cpu
            and not _elsewhere(index)
            and not (value and _elsewhere(value[0]))
        ) or is_compiling():
            return original(self, index, *value)
        return observed(original, op, probe, (self, index, *value), {})

    functools.update_wrapper(watched, original)
    return watched


def watch_moves(original: Function, op: str, probe: Probe) -> Function:
    """Wrap a method or function whose result may lie elsewhere."""

    def watched(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return original(*args, **kwargs)
        return observed(original, op, probe, args, kwargs)

    functools.update_wrapper(watched, original)
    return watched


def _elsewhere(value: Any) -> bool:
    return isinstance(value, Tensor) and (has_torch_function_unary(value) or not value.is_cpu)


def observed(
    original: Function, op: str, probe: Probe, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call the original, and report what it moved; what it raises, it raises."""
    if not listeners:
        return original(*args, **kwargs)
    outer = nesting.inside
    timing = _timing(op, args, kwargs) if outer is None and is_initialized() else None
    inside: dict[tuple[str, str], int] = {}
    nesting.inside = inside
    began = perf_counter_ns()
    try:
        result = original(*args, **kwargs)
    finally:
        ended = perf_counter_ns()
        nesting.inside = outer
    with unseen() if has_torch_function((*args, result)) else as_it_is:
        transfers = probe(args, kwargs, result, inside)
    if transfers and outer is None:
        _tell(op, transfers, began, ended, timing)
    elif transfers and outer is not None:
        for each in transfers:
            devices = (each.source, each.target)
            outer[devices] = outer.get(devices, 0) + each.bytes
    return result


def _timing(op: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Timing | None:
    with unseen():
        return started(op, args, kwargs)


def _tell(
    op: str, transfers: list[Transfer], began: int, ended: int, timing: Timing | None
) -> None:
    # What listeners do themselves (write, warn, show a warning) is no event.
    nesting.inside = {}
    try:
        if timing is not None:
            timing.stop()
        site = site_of(sys._getframe(1))
        thread = threading.get_native_id()
        for transfer in transfers:
            name = transfer.op or op
            for listener in tuple(listeners):
                listener(Sighting(site, name, transfer, began, ended, timing, thread))
    except Exception as error:  # noqa: BLE001 - a training never fails for its recording
        listeners.clear()
        complain(f"runtime_guard stopped recording: {type(error).__name__}: {error}")
    finally:
        nesting.inside = None


def complain(message: str) -> None:
    """Warn; where warnings are errors, say it all the same, and go on."""
    try:
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    except RuntimeWarning:
        sys.stderr.write(f"{message}\n")
