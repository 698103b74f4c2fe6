"""Process groups of accelerators: collectives run on gloo, with the checks of nccl and xccl.

torch makes a group of "nccl" from a class that a torch built without CUDA has not. Here that class
is gloo under another name, so that all that torch's own Python checks and says stays as it is.
"""

from __future__ import annotations

import functools
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor
from torch import distributed as dist

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.devices.marks import device_of
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runtime_guard.virtual.patching import Patches

OVER_GLOO: Final = "collectives of {0} run on gloo, in host memory; their speed says nothing"
DRAWN_BY_RANK: Final = (
    "each rank draws its part of a distributed tensor from its own generator: ranks with one seed "
    "draw the same"
)
NO_BACKEND: Final = "No backend type associated with device type {0}"
"""What a group says of a tensor on a device for which it has no backend (ProcessGroup.hpp)."""

COLLECTIVES: Final = (
    "allreduce allreduce_coalesced broadcast reduce allgather _allgather_base allgather_coalesced "
    "allgather_into_tensor_coalesced all_gather_single all_gather_single_coalesced gather scatter "
    "reduce_scatter _reduce_scatter_base reduce_scatter_tensor_coalesced reduce_scatter_single "
    "reduce_scatter_single_coalesced alltoall alltoall_base all_to_all_single send recv "
    "recv_anysource"
).split()
"""The methods of a process group that are given tensors."""

BACKENDS: Final = {"cuda": "nccl", "xpu": "xccl"}
"""What the groups of an accelerator run on, by its name."""

FLAT: Final = (
    "_allgather_base",
    "all_gather_single",
    "_reduce_scatter_base",
    "reduce_scatter_single",
)
"""Of these, the ones in which nccl counts elements, and gloo wants rows for each rank."""

NCCL_VERSION: Final = 2 << 32 | 27 << 16 | 5
"""The version that torch names in its logs, as it packs it."""


def install(patches: Patches) -> None:
    """Let groups be made of accelerators."""
    if not dist.is_available() or not dist.is_gloo_available():
        return
    from torch.distributed import distributed_c10d as c10d

    for name in BACKENDS.values():
        kind = _standing_for(name)
        for holder in (c10d, dist):
            patches.put(holder, kind.__name__, kind)
        patches.put(c10d, f"_{name.upper()}_AVAILABLE", True)
        patches.put(c10d, f"default_pg_{name}_timeout", timedelta(minutes=10))
    patches.put(torch._C, "_nccl_version", lambda: NCCL_VERSION)
    patches.put(torch._C, "_nccl_version_suffix", lambda: b"")
    helper = c10d._new_process_group_helper
    patches.put(c10d, "_new_process_group_helper", _making(helper))
    _check_collectives(patches, c10d.ProcessGroup)
    for name in ("_stash_obj_in_tls", "_remove_obj_from_tls"):
        if hasattr(torch._C, name):
            patches.put(torch._C, name, _without_context(getattr(torch._C, name)))
    _draw_by_rank(patches)


def _check_collectives(patches: Patches, group: Any) -> None:
    types = group._device_types.__get__
    patches.put(group, "_device_types", property(lambda self: _asked_for(self) or types(self)))
    for name in COLLECTIVES:
        if hasattr(group, name):
            patches.put(group, name, _checking(getattr(group, name)))
    patches.put(group, "barrier", _waiting_on_host(group.barrier))


def _draw_by_rank(patches: Patches) -> None:
    """Let each rank draw its part of a distributed tensor from its own generator.

    torch writes offsets into the state of a CUDA generator so that the parts differ; the state of a
    virtual device's generator is that of the CPU's, for which torch does the same as here.
    """
    from torch.distributed.tensor import _dispatch, _random

    original = _random.is_rng_supported_mesh

    def is_rng_supported_mesh(mesh: Any) -> bool:
        if mesh.device_type != machine().name:
            return bool(original(mesh))
        once("DTensor", DRAWN_BY_RANK)
        return False

    for module in (_dispatch, _random):
        patches.put(module, "is_rng_supported_mesh", is_rng_supported_mesh)


class _Options(SimpleNamespace):
    """What such a backend can be given; only the timeout is heeded."""

    def __init__(self, is_high_priority_stream: bool = False) -> None:
        super().__init__(
            is_high_priority_stream=is_high_priority_stream,
            config=SimpleNamespace(),
            _timeout=None,
        )


def _standing_for(name: str) -> type[Any]:
    """The class that stands for the backend of this name."""

    class Standing(dist.ProcessGroupGloo):
        """Gloo, as the backend of an accelerator."""

        uid = -1
        Options = _Options

        def __init__(self, store: Any, rank: int, size: int, options: Any) -> None:
            once(name, OVER_GLOO.format(name))
            super().__init__(store, rank, size, timeout=options._timeout)

        def _add_ephemeral_timeout(self, timeout: Any) -> None:
            """Nothing: gloo has one timeout."""

        def _group_start(self) -> None:
            """Nothing: what follows is done in turn."""

        def _group_end(self) -> None:
            """Nothing."""

    Standing.__name__ = Standing.__qualname__ = f"ProcessGroup{name.upper()}"
    return Standing


def _making(helper: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(helper)
    def _new_process_group_helper(*args: Any, **kwargs: Any) -> Any:
        group, store = helper(*args, **kwargs)
        if isinstance(group, dist.ProcessGroup):
            _serve_host_memory(group)
        return group, store

    return _new_process_group_helper


def _serve_host_memory(group: Any) -> None:
    """Let a group of an accelerator alone find its backend for tensors as they really are."""
    asked = _asked_for(group)
    if asked and torch.device("cpu") not in asked:
        backend = group._get_backend(asked[0])
        group._register_backend(torch.device("cpu"), _kind_of(group, backend), backend)


def _kind_of(group: Any, backend: Any) -> Any:
    name = type(backend).__name__.removeprefix("ProcessGroup").upper()
    return getattr(type(group).BackendType, name, type(group).BackendType.GLOO)


def _asked_for(group: Any) -> list[torch.device]:
    """The types of device that a group was made for; none where it is not known."""
    from torch.distributed import distributed_c10d as c10d

    config = c10d._world.pg_backend_config.get(group, "")
    return [torch.device(pair.split(":")[0]) for pair in config.split(",") if ":" in pair]


def _checking(collective: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(collective)
    def checked(group: Any, *args: Any, **kwargs: Any) -> Any:
        types = {device.type for device in _asked_for(group)}
        with torch._C.DisableTorchFunction():
            for tensor in _tensors(args):
                kind = device_of(tensor).type
                if types and kind not in types:
                    raise RuntimeError(NO_BACKEND.format(kind))
            if collective.__name__ in FLAT:
                args = tuple(
                    value.view(-1) if isinstance(value, Tensor) else value for value in args
                )
        return collective(group, *args, **kwargs)

    return checked


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _waiting_on_host(barrier: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(barrier)
    def waiting(group: Any, opts: Any = None, *args: Any, **kwargs: Any) -> Any:
        if opts is None:
            return barrier(group, *args, **kwargs)
        if opts.device is not None and opts.device.type == machine().name:
            opts.device = torch.device("cpu")
        return barrier(group, opts, *args, **kwargs)

    return waiting


def _without_context(change: Callable[..., None]) -> Callable[..., None]:
    """What keeps an object for the threads of a backward pass, all but its context variables.

    Gloo's threads keep what belonged to the pass that asked for a collective, and may be the last
    to let go of it. For that they need the lock of the interpreter, which a model that is deleted
    holds while it waits for them to end. Only compiled code reads the context there.
    """

    def change_another(key: str, *values: Any) -> None:
        if key != "context":
            change(key, *values)

    return change_another
