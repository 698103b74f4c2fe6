"""CUDA graphs: they are not modelled. What is captured runs at once, and cannot be replayed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard._virtual.namespaces.native import constant, stand_in
from runtime_guard._virtual.notices import once

if TYPE_CHECKING:
    from runtime_guard._virtual.patching import Patches

CAPTURED: Final = "CUDA graphs are not modelled: what is captured runs at once"
NOT_REPLAYED: Final = (
    "the virtual GPU does not model CUDA graphs: what was captured ran at once, and cannot be "
    "replayed"
)
POOLED: Final = "memory pools are not modelled: one account holds all memory of a device"

_pools = itertools.count(1)


def install(patches: Patches) -> None:
    """Let graphs be made and captured, and pools be used."""
    graph_methods = {
        "__new__": staticmethod(_instance),
        "__init__": constant(None),
        "capture_begin": _capture,
        "replay": _replay,
        "pool": lambda self: self._pool,
        **{name: constant(None) for name in ("capture_end", "instantiate", "reset")},
        **{name: constant(None) for name in ("enable_debug_mode", "debug_dump")},
    }
    for base in (torch._C._CUDAGraph, torch._C._XPUGraph):
        for name, value in graph_methods.items():
            patches.put(base, name, value)
    for name, module, prefix in (("cuda", torch.cuda, "_"), ("xpu", torch.xpu, "_xpu_")):
        for holder in (torch._C, module.graphs):
            patches.put(holder, f"_{name}_isCurrentStreamCapturing", constant(False))
            patches.put(holder, f"{prefix}graph_pool_handle", lambda: (0, next(_pools)))
        patches.put(module.graph, "default_capture_stream", None)
        for holder in (module, module.graphs):
            stand_in(patches, holder, "make_graphed_callables", name, _as_they_are)
    _install_pools(patches)


def _install_pools(patches: Patches) -> None:
    for base in (torch._C._MemPool, torch._C._XPUMemPool):
        patches.put(base, "__new__", staticmethod(_pool))
        patches.put(base, "__init__", constant(None))
        patches.put(base, "id", property(lambda self: self._pool))
        patches.put(base, "use_count", lambda _self: 1)
        patches.put(base, "allocator", None)
    for module, prefix in (
        (torch.cuda.memory, "_cuda_"),
        (torch._C, "_cuda_"),
        (torch._C, "_xpu_"),
    ):
        for name in ("beginAllocateCurrentThreadToPool", "endAllocateToPool", "releasePool"):
            patches.put(module, prefix + name, constant(None))


def _instance(cls: type, *_args: Any, **_kwargs: Any) -> Any:
    made: Any = object.__new__(cls)
    made._pool = (0, next(_pools))
    return made


def _pool(cls: type, *_args: Any, **_kwargs: Any) -> Any:
    once("memory_pools", POOLED)
    return _instance(cls)


def _capture(_self: Any, *_args: Any, **_kwargs: Any) -> None:
    once("cuda_graphs", CAPTURED)


def _replay(_self: Any) -> None:
    raise RuntimeError(NOT_REPLAYED)


def _as_they_are(callables: Any, *_args: Any, **_kwargs: Any) -> Any:
    """What is to be replayed as a graph is called as it is, which computes the same."""
    once("cuda_graphs", CAPTURED)
    return callables
