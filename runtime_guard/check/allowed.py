"""Which arguments may lie on the CPU beside a module on an accelerator, as CUDA has it.

Source: torch 2.13, `aten/src/ATen/native/native_functions.yaml` for the rule of 0-dim tensors,
the modules' and functions' own source for the rest.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from runtime_guard.check.own import is_of_torch

# The arguments that the modules of torch take from the CPU, whatever their own device.
_FREE = {
    # The lengths are read on the host; cuDNN wants the targets there as well.
    nn.CTCLoss: {"targets", "input_lengths", "target_lengths"},
    # It gives back the first argument, and looks at no other.
    nn.Identity: None,
}

# Their kernels look at the device of every argument; others read a 0-dim one as a number.
_WITHOUT_SCALARS = (nn.Embedding, nn.NLLLoss, nn.CrossEntropyLoss, nn.BCELoss)


def is_free(module: nn.Module, argument: str, arguments: dict[str, Any]) -> bool:
    """Whether torch's module takes this argument from any device."""
    for kind, names in _FREE.items():
        if isinstance(module, kind) and (names is None or argument in names):
            return True
    return (
        isinstance(module, nn.MultiheadAttention)
        and argument == "attn_mask"
        and _drops_the_mask(arguments)
    )


def _drops_the_mask(arguments: dict[str, Any]) -> bool:
    """Whether attention replaces the mask by its own causal one, and never reads it."""
    return (
        bool(arguments.get("is_causal"))
        and arguments.get("key_padding_mask") is None
        and arguments.get("need_weights") is False
    )


def mixes_from_cpu(tensor: Tensor) -> bool:
    """Whether a tensor on the CPU mixes with any device: a 0-dim one does."""
    return bool(tensor.device.type == "cpu" and tensor.dim() == 0)


def takes_no_scalar(module: nn.Module) -> bool:
    """Whether torch's module takes not even a 0-dim tensor from the CPU."""
    return isinstance(module, _WITHOUT_SCALARS) and is_of_torch(module)


def indexes_from_cpu(tensor: Tensor) -> bool:
    """Whether a tensor on the CPU may be an index, lengths or a mask for indexing."""
    if tensor.device.type != "cpu":
        return False
    return not (tensor.is_floating_point() or tensor.is_complex())
