"""What CUDA checks before any kernel runs, each as its source in ATen does."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from runtime_guard._virtual import texts
from runtime_guard._virtual.calls import handles
from runtime_guard._virtual.getters import type_name
from runtime_guard._virtual.machine import CPU
from runtime_guard._virtual.marks import device_of, mark_of
from runtime_guard._virtual.mixing import OWN_RULES
from runtime_guard._virtual.running import place_all, run


def _convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *_: Any, **__: Any
) -> None:
    own = device_of(input)
    for name, other in (("weight", weight), ("bias", bias)):
        if other is not None and device_of(other).type != own.type:
            raise RuntimeError(
                texts.convolution(type_name(input), name, type_name(other), is_host=own == CPU)
            )


for _name in (
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution "
    "_convolution"
).split():
    OWN_RULES[getattr(torch, _name)] = _convolution


def _recurrent(*args: Any, **kwargs: Any) -> None:
    packed = (
        isinstance(args[1], Tensor)
        and isinstance(args[2], (list, tuple, Tensor))
        and isinstance(args[3], (list, tuple))
    )
    hidden, params = (args[2], args[3]) if packed else (args[1], args[2])
    own = device_of(args[0])
    for name, tensors in (("hidden", hidden), ("parameter", params)):
        for tensor in [tensors] if isinstance(tensors, Tensor) else tensors:
            if device_of(tensor) != own:
                raise RuntimeError(texts.recurrent(name, own, device_of(tensor)))


for _name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
    OWN_RULES[getattr(torch, _name)] = _recurrent


def _attention(query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> None:
    found = [device_of(tensor) for tensor in (query, key, value)]
    if len(set(found)) > 1:
        raise RuntimeError(texts.attention(*found))


OWN_RULES[torch._C._nn.scaled_dot_product_attention] = _attention


@handles(torch._C._VariableFunctions._pack_padded_sequence)
def _pack(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    lengths = args[1] if len(args) > 1 else kwargs["lengths"]
    device = mark_of(lengths)
    if device is not None:
        raise RuntimeError(texts.lengths(lengths, device))
    data, sizes = func(*args, **kwargs)
    own = mark_of(args[0])
    if own is not None:
        place_all(data, own)
    return data, sizes


@handles(torch._C._VariableFunctions._pad_packed_sequence)
def _unpack(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    data, lengths = func(*args, **kwargs)
    own = mark_of(args[0])
    if own is not None:
        place_all(data, own)
    return data, lengths


@handles(
    *(
        getattr(torch._C._VariableFunctions, name)
        for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")
    )
)
def _run_recurrent(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The sizes of a packed batch lie on the CPU, whatever the rest does."""
    packed = isinstance(args[1], Tensor) and len(args) > 3 and isinstance(args[3], (list, tuple))
    if not packed:
        return run(func, args, kwargs)
    data, _sizes, hidden, params, *_ = args
    from runtime_guard._virtual.running import common_device

    common = common_device((data, hidden, params))
    if common is ...:
        OWN_RULES[func](*args, **kwargs)
    made = func(*args, **kwargs)
    if isinstance(common, torch.device):
        place_all(made, common)
    return made


@handles(Tensor.expand_as, Tensor.view_as, Tensor.reshape_as)
def _shaped(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Only the shape of the other is looked at."""
    made = func(*args, **kwargs)
    device = mark_of(args[0])
    if device is not None:
        place_all(made, device)
    return made
