"""What functions of torch compare before they call any kernel, as their sources in ATen do.

All tensors that they are given must lie together. `{first}` is where the first lies, `{other}`
where the first other one does, and `{index}` its place.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from runtime_guard.virtual.devices.marks import device_of
from runtime_guard.virtual.dispatch import texts
from runtime_guard.virtual.dispatch.mixing import OWN_RULES
from runtime_guard.virtual.dispatch.rules import release, table

TOGETHER: Final = {
    "block_diag": "torch.block_diag: input tensors must all be on the same device. "
    "Input 0 is on device {first} and input {index} is on device {other}",
    "meshgrid": "meshgrid expects all tensors to have the same device",
    "linalg_multi_dot": "multi_dot(): all tensors must be on the same device "
    "but tensor 0 is on {first} and tensor {index} {other}",
    "cartesian_prod": "meshgrid expects all tensors to have the same device",
    "cholesky_solve": "Expected b and A to be on the same device, "
    "but found b on {first} and A on {other} instead.",
    "inner": "Expected tensor to have {first.type} DeviceType, but got tensor with {other.type} "
    "DeviceType (while checking arguments for inner())",
    "take_along_dim": "Expected tensor to have {first} Device, but got tensor with {other} Device "
    "(while checking arguments for torch.take_along_dim():)",
    "stft": "stft input and window must be on the same device "
    "but got self on {first} and window on {other}",
    "istft": "istft input and window must be on the same device "
    "but got self on {first} and window on {other}",
    "quantile": "quantile() q tensor must be on the same device as the input tensor",
    "nanquantile": "quantile() q tensor must be on the same device as the input tensor",
    "gradient": "torch.gradient expected each tensor to be on the same device, "
    "but got devices {first} and {other}.",
    "_weight_norm": "weight_norm: expected v_in and g_in to be on the same device, "
    "but v_in is on {first} and g_in is on {other}",
}
"""By the function's name, what it says of tensors that do not lie together."""


def _together(text: str) -> Any:
    def compare(*args: Any, **kwargs: Any) -> None:
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        devices = [device_of(tensor) for tensor in tensors]
        for index, other in enumerate(devices):
            if other != devices[0]:
                raise RuntimeError(text.format(first=devices[0], other=other, index=index))

    return compare


def _segments(data: Tensor, *_: Any, **given: Any) -> None:
    for name in ("lengths", "offsets"):
        other = given.get(name)
        if isinstance(other, Tensor) and device_of(other) != device_of(data):
            raise RuntimeError(texts.assumed(f"data.get_device() == {name}_value.get_device()"))


OWN_RULES[torch.segment_reduce] = _segments


def _similar(x1: Tensor, x2: Tensor, *_: Any, **__: Any) -> None:
    """The norms are held to a least number that lies where the first tensor does."""
    if device_of(x1) != device_of(x2) and release(torch.__version__) >= (2, 11):
        raise RuntimeError(_in_kernel("clamp_min_.Tensor", "min", device_of(x1), device_of(x2)))


OWN_RULES[torch.cosine_similarity] = _similar


def _normalised(data: Tensor, shape: Any, weight: Tensor | None = None, *_: Any, **__: Any) -> None:
    """On a device one kernel does what the CPU does in several operators."""
    if weight is None or "_fused_rms_norm" not in table().rules:
        return
    if device_of(data) != device_of(weight):
        places = device_of(weight), device_of(data)
        raise RuntimeError(_in_kernel("_fused_rms_norm", "weight", *places))


OWN_RULES[torch.rms_norm] = _normalised


def _in_kernel(name: str, argument: str, device: torch.device, others: torch.device) -> str:
    method = table().rules[name].method
    return texts.exact(argument, device, others, method, family=table().family)


for _name, _text in TOGETHER.items():
    for _holder in (torch._C._VariableFunctions, torch._C._linalg, Tensor):
        if hasattr(_holder, _name):
            OWN_RULES[getattr(_holder, _name)] = _together(_text)
