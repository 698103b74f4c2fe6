"""The profiler takes the activities of a virtual device, and finds none of its kernels.

In a build without CUDA it would time events of CUDA instead, which fails at every operator, with a
page of text for each.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.autograd import ProfilerActivity, profiler

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

ACTIVITIES: Final = {"cuda": ProfilerActivity.CUDA, "xpu": ProfilerActivity.XPU}
"""What a device does, as the profiler calls it."""

UNTIMED: Final = "the profiler sees what the CPU does; kernels of the device are not there to time"


def install(patches: Patches) -> None:
    """Let work on virtual devices be profiled."""
    supported: Callable[[], set[ProfilerActivity]] = torch.autograd._supported_activities

    def _supported_activities() -> set[ProfilerActivity]:
        own = ACTIVITIES.get(machine().name)
        return supported() | {own} if own else supported()

    for holder in (torch.autograd, profiler):
        patches.put(holder, "_supported_activities", _supported_activities)
    patches.put(profiler.profile, "__init__", _beginning(profiler.profile.__init__))
    patches.put(profiler.emit_nvtx, "__enter__", _unmarked)
    patches.put(profiler.emit_nvtx, "__exit__", _forgotten)


def _beginning(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self.use_device in ACTIVITIES:
            once("profiler", UNTIMED)
        if getattr(self, "profiler_kind", None) == profiler.ProfilerState.KINETO_GPU_FALLBACK:
            self.profiler_kind = profiler.ProfilerState.KINETO

    return begin


def _unmarked(self: Any) -> Any:
    """Do what `torch.autograd.profiler.emit_nvtx` does at its beginning, but for the ranges."""
    if not self.enabled:
        return None
    if self.entered:
        raise RuntimeError("NVTX annotation context manager is not reentrant")
    self.entered = True
    once("emit_nvtx", "no ranges are emitted: no profiler of NVIDIA listens to a virtual GPU")
    return self


def _forgotten(self: Any, kind: Any, error: Any, trace: Any) -> bool:
    return False
