"""What CUDA says where devices mix, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor

SAME = "Expected all tensors to be on the same device, but"
SCALARS = "Trying to pass too many CPU scalars to non-CPU kernel!"


def exact(
    argument: str, device: torch.device, others: torch.device, method: str, *, family: str
) -> str:
    """The text of a kernel's wrapper that checks each of its arguments.

    Args:
        argument: the first that lies elsewhere than those before it.
        device: where it lies.
        others: where those before it lie.
        method: the wrapper's name: `wrapper_CUDA_addmm`.
        family: `got`, or `found` as older releases of torch print it.
    """
    if family == "got":
        where = f"got {argument} is on {device}, different from other tensors on {others}"
        return f"{SAME} {where} (when checking argument in method {method})"
    found = f"{several(others, device)} (when checking argument for argument {argument}"
    return f"{found} in method {method})"


def several(one: torch.device, other: torch.device) -> str:
    """The text of a TensorIterator."""
    return f"{SAME} found at least two devices, {one} and {other}!"


def output(result: torch.device, given: torch.device) -> str:
    """The text of a kernel whose `out=` lies elsewhere than its result."""
    return f"Expected out tensor to have device {result}, but got {given} instead"


def index(device: torch.device) -> str:
    """The text of indexing a tensor that lies on `device` by one that lies elsewhere."""
    where = f"either on cpu or on the same device as the indexed tensor ({device})"
    return f"indices should be {where}"


def assumed(condition: str) -> str:
    """The text of a check that has no words of its own."""
    return (
        f"Expected {condition} to be true, but got false.  (Could this error message be improved?  "
        "If so, please report an enhancement request to PyTorch.)"
    )


def not_on_cuda(operator: str) -> str:
    """The beginning of the text of an operator that has no kernel for CUDA."""
    return (
        f"Could not run 'aten::{operator}' with arguments from the 'CUDA' backend. This could be "
        "because the operator doesn't exist for this backend, or was omitted during the "
        "selective/custom build process (if using custom build)."
    )


def convolution(input_type: str, other: str, other_type: str, *, is_host: bool) -> str:
    """The text of a convolution.

    Args:
        input_type: of the input: `torch.FloatTensor`.
        other: `weight` or `bias`.
        other_type: of that.
        is_host: whether the input lies on the CPU, where torch thinks of MKL-DNN.
    """
    same = f"Input type ({input_type}) and {other} type ({other_type}) should be the same"
    if is_host and other == "weight":
        return f"{same} or input should be a MKLDNN tensor and weight is a dense tensor"
    return same


def recurrent(what: str, given: torch.device, found: torch.device) -> str:
    """The text of a recurrent layer whose `parameter` or `hidden` lies elsewhere than its input."""
    both = f"found input tensor at {given} and {what} tensor at {found}"
    return f"Input and {what} tensors are not at the same device, {both}"


def masked_fill(mask: torch.device, own: torch.device) -> str:
    """The text of `masked_fill`."""
    where = f"but got mask on {mask} and self on {own}"
    return f"expected self and mask to be on the same device, {where}"


def attention(query: torch.device, key: torch.device, value: torch.device) -> str:
    """The text of `scaled_dot_product_attention`."""
    got = f"query.device: {query} key.device: {key} and value.device: {value}"
    return f"Expected query, key, and value to have the same device type, but got {got} instead."


def lengths(given: Tensor, device: torch.device) -> str:
    """The text of `pack_padded_sequence`."""
    kind = {"Int": "Int", "Float": "Float"}.get(given.type().split(".")[-1][:-6], "Long")
    got = f"{given.dim()}D {device} {kind} tensor"
    return f"'lengths' argument should be a 1D CPU int64 tensor, but got {got}"
