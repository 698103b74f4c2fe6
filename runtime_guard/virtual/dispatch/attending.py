"""Attention: which kernel CUDA would choose, and what it says of two devices."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

from runtime_guard.virtual.devices.marks import device_of
from runtime_guard.virtual.dispatch import texts
from runtime_guard.virtual.dispatch.mixing import OWN_RULES
from runtime_guard.virtual.dispatch.rules import table

ALIGNED: Final = {torch.float: 4, torch.half: 8, torch.bfloat16: 8}
"""Of how many numbers the last dimension must be made, for the kernel that saves memory."""


def _check(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, *_: Any, **__: Any
) -> None:
    found = [device_of(tensor) for tensor in (query, key, value)]
    if len(set(found)) > 1:
        raise RuntimeError(texts.attention(*found))
    if attn_mask is None or device_of(attn_mask) == found[0]:
        return
    # The kernels of the CPU, which run here, compare no mask.
    if not _is_fused(query, value):
        raise RuntimeError(texts.several(found[0], device_of(attn_mask)))
    kernel = table().rules["_scaled_dot_product_efficient_attention"]
    said = kernel.printed["attn_bias"], device_of(attn_mask), found[0], kernel.method
    raise RuntimeError(texts.exact(*said, family=table().family))


def _is_fused(query: Tensor, value: Tensor) -> bool:
    """Whether one kernel does it, rather than a product, a sum and a softmax."""
    numbers = ALIGNED.get(query.dtype)
    if numbers is None or not torch.backends.cuda.mem_efficient_sdp_enabled():
        return False
    return not (query.shape[-1] % numbers or value.shape[-1] % numbers)


OWN_RULES[torch._C._nn.scaled_dot_product_attention] = _check
