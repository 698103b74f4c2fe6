"""CUDA graphs: they are not modelled. What is captured runs at once, and cannot be replayed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard.virtual.namespaces.native import constant, fill, stand_in
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from runtime_guard.virtual.patching import Patches

CAPTURED: Final = "CUDA graphs are not modelled: what is captured runs at once"
NOT_REPLAYED: Final = (
    "the virtual GPU does not model CUDA graphs: what was captured ran at once, and cannot be "
    "replayed"
)
POOLED: Final = "memory pools are not modelled: one account holds all memory of a device"

_pools = itertools.count(1)


METHODS: Final = "capture_end instantiate reset enable_debug_mode debug_dump".split()
"""What of a graph does nothing."""


def install(patches: Patches) -> None:
    """Let graphs be made and captured, and pools be used."""
    for word in ("_CUDAGraph", "_XPUGraph"):
        fill(patches, getattr(torch._C, word, None), _graph())
    for word in ("_MemPool", "_XPUMemPool"):
        fill(patches, getattr(torch._C, word, None), _POOL)
    # What `torch.compile` keeps of graphs imports these, where it is reset.
    patches.put(torch._C, "_cuda_CUDAAllocator_AllocatorState", type("AllocatorState", (), {}))
    patches.put(torch._C, "_set_cached_tensors_enabled", constant(None))
    for name, prefix in (("cuda", "_"), ("xpu", "_xpu_")):
        module = getattr(torch, name)
        graphs = getattr(module, "graphs", None)
        for holder in (torch._C, graphs):
            if holder is not None:
                patches.put(holder, f"_{name}_isCurrentStreamCapturing", constant(False))
                patches.put(holder, f"{prefix}graph_pool_handle", lambda: (0, next(_pools)))
        for holder in (torch._C, module.memory):
            for word in ("beginAllocateCurrentThreadToPool", "endAllocateToPool", "releasePool"):
                patches.put(holder, f"_{name}_{word}", constant(None))
        if graphs is not None:
            patches.put(module.graph, "default_capture_stream", None)
            for holder in (module, graphs):
                stand_in(patches, holder, "make_graphed_callables", name, _as_they_are)


def _graph() -> dict[str, Any]:
    return {
        "__new__": staticmethod(_instance),
        "__init__": constant(None),
        "capture_begin": _capture,
        "replay": _replay,
        "pool": lambda self: self._pool,
        **{word: constant(None) for word in METHODS},
    }


def _instance(cls: type, *_args: Any, **_kwargs: Any) -> Any:
    made: Any = object.__new__(cls)
    made._pool = (0, next(_pools))
    return made


def _pool(cls: type, *_args: Any, **_kwargs: Any) -> Any:
    once("memory_pools", POOLED)
    return _instance(cls)


_POOL: Final = {
    "__new__": staticmethod(_pool),
    "__init__": constant(None),
    "id": property(lambda self: self._pool),
    "use_count": lambda _self: 1,
    "allocator": None,
}
"""What a pool is made of."""


def _capture(_self: Any, *_args: Any, **_kwargs: Any) -> None:
    once("cuda_graphs", CAPTURED)


def _replay(_self: Any) -> None:
    raise RuntimeError(NOT_REPLAYED)


def _as_they_are(callables: Any, *_args: Any, **_kwargs: Any) -> Any:
    """What is to be replayed as a graph is called as it is, which computes the same."""
    once("cuda_graphs", CAPTURED)
    return callables
