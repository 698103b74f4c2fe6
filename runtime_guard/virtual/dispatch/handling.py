"""What CUDA checks before any kernel runs, each as its source in ATen does."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from runtime_guard.virtual.devices.marks import device_of, mark_of
from runtime_guard.virtual.dispatch import texts
from runtime_guard.virtual.dispatch.calls import handles
from runtime_guard.virtual.dispatch.mixing import OWN_RULES
from runtime_guard.virtual.dispatch.running import common_device, place_all, run

RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")


def _recurrent(*args: Any, **kwargs: Any) -> None:
    hidden, params = _states(args)
    own = device_of(args[0])
    for name, tensors in (("hidden", hidden), ("parameter", params)):
        for tensor in [tensors] if isinstance(tensors, Tensor) else tensors:
            if device_of(tensor) != own:
                raise RuntimeError(texts.recurrent(name, own, device_of(tensor)))


def _is_packed(args: tuple[Any, ...]) -> bool:
    """Whether the second argument is the sizes of a packed batch."""
    return isinstance(args[1], Tensor) and isinstance(args[3], (list, tuple))


def _states(args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The hidden state and the parameters of a recurrent layer's arguments."""
    return (args[2], args[3]) if _is_packed(args) else (args[1], args[2])


OWN_RULES.update({getattr(torch, name): _recurrent for name in RECURRENT})


def _beside(tensor: Tensor, made: Any) -> Any:
    """What was made, which lies where the tensor does."""
    device = mark_of(tensor)
    if device is not None:
        place_all(made, device)
    return made


@handles(torch._C._VariableFunctions._pack_padded_sequence)
def _pack(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    lengths = args[1] if len(args) > 1 else kwargs["lengths"]
    device = mark_of(lengths)
    if device is not None:
        raise RuntimeError(texts.lengths(lengths, device))
    data, sizes = func(*args, **kwargs)
    _beside(args[0], data)
    return data, sizes


@handles(torch._C._VariableFunctions._pad_packed_sequence)
def _unpack(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    data, lengths = func(*args, **kwargs)
    _beside(args[0], data)
    return data, lengths


@handles(*(getattr(torch, name) for name in RECURRENT))
def _run_recurrent(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The sizes of a packed batch lie on the CPU, whatever the rest does."""
    if not _is_packed(args):
        return run(func, args, kwargs)
    common = common_device((args[0], *_states(args)))
    if common is ...:
        _recurrent(*args)
    made = func(*args, **kwargs)
    if isinstance(common, torch.device):
        place_all(made, common)
    return made


@handles(torch.ctc_loss)
def _connectionist(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The targets are moved to where the scores lie, and the lengths are read wherever they do."""
    made = func(*args, **kwargs)
    return _beside(args[0] if args else kwargs["log_probs"], made)


@handles(torch.tensor_split, Tensor.tensor_split)
def _split(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    at = args[1] if len(args) > 1 else kwargs.get("tensor_indices_or_sections")
    device = mark_of(at) if isinstance(at, Tensor) else None
    if device is not None:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {device}"
        )
    made = func(*args, **kwargs)
    return _beside(args[0] if args else kwargs["input"], made)


@handles(Tensor.expand_as, Tensor.view_as, Tensor.reshape_as)
def _shaped(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Only the shape of the other is looked at."""
    made = func(*args, **kwargs)
    return _beside(args[0], made)
