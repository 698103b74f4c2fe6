"""What DataParallel is built on: copies of tensors to several devices, and back from them.

The functions of torch.nn.parallel.comm check what they are given; here is what they call, which
is missing in a torch that was built without CUDA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.parallel import _functions, comm

from runtime_guard.virtual.devices.machine import CPU, machine
from runtime_guard.virtual.devices.marks import device_of, place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runtime_guard.virtual.patching import Patches


def install(patches: Patches) -> None:
    """Let tensors be broadcast, scattered, gathered and summed."""
    for function in (
        _broadcast,
        _broadcast_out,
        _broadcast_coalesced,
        _scatter,
        _scatter_out,
        _gather,
        _gather_out,
    ):
        patches.put(torch._C, function.__name__, function)
    patches.put(comm, "reduce_add", reduce_add)
    patches.put(_functions, "_get_stream", _of_this_machine(_functions._get_stream))
    patches.at_reset(_forget_streams)


def _of_this_machine(get: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The stream on which inputs are copied: torch keeps a list of as many as it first found."""

    def _get_stream(device: Any) -> Any:
        if len(_functions._streams or ()) != len(machine().devices):
            _forget_streams()
        return get(device)

    return _get_stream


def _forget_streams() -> None:
    _functions._streams = None


def _there(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor on a device: itself if it lies there."""
    with torch._C.DisableTorchFunction():
        return tensor if device_of(tensor) == device else place(tensor.clone(), device)


def _devices(indices: Sequence[int]) -> list[torch.device]:
    return [machine().devices[index] for index in indices]


def _broadcast(tensor: Tensor, indices: Sequence[int]) -> list[Tensor]:
    return [_there(tensor, device) for device in _devices(indices)]


def _broadcast_out(tensor: Tensor, outputs: Sequence[Tensor]) -> list[Tensor]:
    return [_filled(output, tensor) for output in outputs]


def _broadcast_coalesced(
    tensors: Sequence[Tensor],
    indices: Sequence[int],
    buffer_size: int,
) -> list[list[Tensor]]:
    devices = _devices(indices)
    with torch._C.DisableTorchFunction():
        if any(device_of(tensor) != devices[0] for tensor in tensors):
            raise RuntimeError(f"All tensors must be on devices[0]: {indices[0]}")
    return [[_there(tensor, device) for tensor in tensors] for device in devices]


def _scatter(
    tensor: Tensor,
    indices: Sequence[int],
    sizes: Sequence[int] | None,
    dim: int,
    streams: Any,
) -> list[Tensor]:
    with torch._C.DisableTorchFunction():
        parts = tensor.chunk(len(indices), dim) if sizes is None else tensor.split(sizes, dim)
    return [_there(part, device) for part, device in zip(parts, _devices(indices), strict=False)]


def _scatter_out(
    tensor: Tensor,
    outputs: Sequence[Tensor],
    dim: int,
    streams: Any,
) -> list[Tensor]:
    with torch._C.DisableTorchFunction():
        parts = tensor.split([output.size(dim) for output in outputs], dim)
    return [_filled(output, part) for output, part in zip(outputs, parts, strict=True)]


def _gather(tensors: Sequence[Tensor], dim: int, index: int | None) -> Tensor:
    device = machine().devices[machine().current if index is None else index]
    if index == -1:
        device = CPU
    with torch._C.DisableTorchFunction():
        return place(torch.cat(tuple(tensors), dim), device)


def _gather_out(tensors: Sequence[Tensor], output: Tensor, dim: int) -> Tensor:
    with torch._C.DisableTorchFunction():
        return _filled(output, torch.cat(tuple(tensors), dim))


def _filled(output: Tensor, tensor: Tensor) -> Tensor:
    with torch._C.DisableTorchFunction():
        return output.copy_(tensor)


def reduce_add(inputs: Sequence[Tensor], destination: int | None = None) -> Tensor:
    """The sum of tensors of several devices, on one of them.

    Inside a backward pass a gradient may not say yet where it lies, so that nothing is asked.
    """
    index = machine().current if destination is None else destination
    with torch._C.DisableTorchFunction():
        total = inputs[0].clone()
        for other in inputs[1:]:
            total = total + other
        return place(total, machine().devices[torch.device(machine().name, index).index])
