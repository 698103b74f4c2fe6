"""What functions of torch compare before they call any kernel, as their sources in ATen do.

All tensors that they are given must lie together. `{first}` is where the first lies, `{other}`
where the first other one does, and `{index}` its place.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from runtime_guard._virtual.marks import device_of
from runtime_guard._virtual.mixing import OWN_RULES

TOGETHER: Final = {
    "block_diag": "torch.block_diag: input tensors must all be on the same device. "
    "Input 0 is on device {first} and input {index} is on device {other}",
    "meshgrid": "meshgrid expects all tensors to have the same device",
    "linalg_multi_dot": "multi_dot(): all tensors must be on the same device "
    "but tensor 0 is on {first} and tensor {index} {other}",
    "grid_sampler": "grid_sampler(): expected input and grid to be on same device, "
    "but input is on {first} and grid is on {other}",
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


for _name, _text in TOGETHER.items():
    for _holder in (torch._C._VariableFunctions, torch._C._linalg, Tensor):
        if hasattr(_holder, _name):
            OWN_RULES[getattr(_holder, _name)] = _together(_text)
