"""What CUDA computes in dtypes for which the CPU has no kernel: here in a wider one.

Programs ask where their tensors lie before they choose a dtype: mixtures of experts count in
integers on CUDA, and in floats elsewhere. Without this they would stop where a GPU goes on.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from runtime_guard.virtual.dispatch.calls import HANDLERS
from runtime_guard.virtual.dispatch.running import common_device, place_all, run

HALVES: Final = dict.fromkeys((torch.float16, torch.bfloat16), torch.float32)
WHOLE: Final = dict.fromkeys(
    (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64), torch.float64
)

WIDENED: Final[dict[Any, dict[torch.dtype, torch.dtype]]] = {
    torch.histc: WHOLE,
    Tensor.histc: WHOLE,
    torch._C._nn.avg_pool3d: HALVES,
    torch._C._nn._upsample_bilinear2d_aa: HALVES,
    torch._C._nn.multi_margin_loss: HALVES,
    torch._C._nn.multilabel_margin_loss: HALVES,
}
"""By function the dtypes that only CUDA has, with those in which the CPU computes instead.

They are those of torch's own tests: `dtypesIfCUDA` less `dtypes` in
torch/testing/_internal/common_methods_invocations.py.
"""


def _widened(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute in a wider dtype what lies on one device, and give it back in its own."""
    dtypes = WIDENED[func]
    data = args[0] if args else kwargs.get("input")
    device = common_device((*args, *kwargs.values()))
    if (
        not isinstance(data, Tensor)
        or data.dtype not in dtypes
        or not isinstance(device, torch.device)
        or kwargs.get("out") is not None
    ):
        return run(func, args, kwargs)

    def widen(value: Any) -> Any:
        is_narrow = isinstance(value, Tensor) and value.dtype == data.dtype
        return value.to(dtypes[data.dtype]) if is_narrow else value

    made = func(*tree_map(widen, args), **tree_map(widen, kwargs)).to(data.dtype)
    place_all(made, device)
    return made


HANDLERS.update(dict.fromkeys(WIDENED, _widened))
