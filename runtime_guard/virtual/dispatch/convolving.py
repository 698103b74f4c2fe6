"""Convolutions: which kernel torch would choose, and what it says of two devices."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU
from runtime_guard.virtual.devices.marks import device_of
from runtime_guard.virtual.dispatch import texts
from runtime_guard.virtual.dispatch.getters import type_name
from runtime_guard.virtual.dispatch.mixing import OWN_RULES
from runtime_guard.virtual.dispatch.rules import table

NATIVE_IS_FASTER: Final = 20480
"""Up to so many numbers, oneDNN is not asked for a single picture."""


class Convolution(NamedTuple):
    """What one convolution was given.

    Attributes:
        data: its input.
        weight: its kernels.
        bias: what is added, if anything.
        is_transposed: whether it goes the other way.
        is_dilated: whether its kernels have holes.
        is_strided: whether it leaves steps out.
        groups: how many groups of channels it has.
    """

    data: Tensor
    weight: Tensor
    bias: Tensor | None
    is_transposed: bool
    is_dilated: bool
    is_strided: bool
    groups: int

    @property
    def spatial(self) -> int:
        """How many dimensions a picture has; a sequence is taken for a picture of one row."""
        return max(int(self.weight.dim()) - 2, 2)

    @property
    def kernel(self) -> str:
        """The operator that the CPU runs where oneDNN does not."""
        if self.is_transposed:
            return f"slow_conv_transpose{self.spatial}d"
        if self.is_dilated:
            return f"slow_conv_dilated{self.spatial}d"
        return "_slow_conv2d_forward" if self.spatial == 2 else "slow_conv3d_forward"

    @property
    def is_for_onednn(self) -> bool:
        """Whether the CPU leaves it to oneDNN, as `use_mkldnn` of ATen says."""
        if not torch.backends.mkldnn.is_available():
            return False
        if self.data.dtype in (torch.half, torch.bfloat16):
            return True
        return self.data.dtype == torch.float and self._is_worth_it and self._is_large

    @property
    def _is_worth_it(self) -> bool:
        sides = self._sides
        steps = self.is_strided or self.is_dilated or self._batch >= 16
        return steps or sides != (1, 1) or torch.get_num_threads() > 1

    @property
    def _is_large(self) -> bool:
        if self.groups > 1 or min(self._sides) > 3 or self._batch > 1:
            return True
        shape = (1,) * (self.weight.dim() - self.data.dim()) + tuple(self.data.shape)
        return bool(torch.Size(shape[:4]).numel() > NATIVE_IS_FASTER)

    @property
    def _sides(self) -> tuple[int, int]:
        if self.weight.dim() == 3:
            return 1, self.weight.shape[-1]
        return self.weight.shape[-2], self.weight.shape[-1]

    @property
    def _batch(self) -> int:
        return int(self.data.shape[0]) if self.data.dim() == self.weight.dim() else 1


def check(given: Convolution) -> None:
    """Refuse input, weight and bias that do not lie together.

    Raises:
        RuntimeError: they do not.
    """
    own = device_of(given.data)
    for name, other in (("weight", given.weight), ("bias", given.bias)):
        if other is None or device_of(other) == own:
            continue
        if own == CPU and not given.is_for_onednn:
            raise _without_onednn(given, name, device_of(other))
        if device_of(other).type == own.type:
            raise _differing(name, device_of(other), own, "wrapper_CUDA__cudnn_convolution")
        types = type_name(given.data), name, type_name(other)
        raise RuntimeError(texts.convolution(*types, is_host=own == CPU))


def _without_onednn(given: Convolution, name: str, device: torch.device) -> RuntimeError:
    rule = table().rules.get(given.kernel)
    if rule is None:
        return NotImplementedError(texts.not_on_cuda(given.kernel))
    return _differing(name, device, CPU, rule.method)


def _differing(name: str, device: torch.device, others: torch.device, method: str) -> RuntimeError:
    return RuntimeError(texts.exact(name, device, others, method, family=table().family))


COMMON: Final = ("input", "weight", "bias", "stride", "padding")
FORWARD: Final = (*COMMON, "dilation", "groups")
TRANSPOSED: Final = (*COMMON, "output_padding", "groups", "dilation")
ANY: Final = (*COMMON, "dilation", "transposed", "output_padding", "groups")
"""The names of the arguments of torch's functions, in order."""


def _rule(names: tuple[str, ...], *, is_transposed: bool) -> Any:
    def compare(*args: Any, **kwargs: Any) -> None:
        given = dict(zip(names, args, strict=False)) | kwargs
        check(
            Convolution(
                given["input"],
                given["weight"],
                given.get("bias"),
                is_transposed=given.get("transposed", is_transposed),
                is_dilated=_exceeds(given.get("dilation", 1)),
                is_strided=_exceeds(given.get("stride", 1)),
                groups=given.get("groups", 1),
            )
        )

    return compare


def _exceeds(value: Any) -> bool:
    return any(part > 1 for part in (value if isinstance(value, (list, tuple)) else (value,)))


for _size in (1, 2, 3):
    OWN_RULES[getattr(torch, f"conv{_size}d")] = _rule(FORWARD, is_transposed=False)
    OWN_RULES[getattr(torch, f"conv_transpose{_size}d")] = _rule(TRANSPOSED, is_transposed=True)
OWN_RULES[torch.convolution] = OWN_RULES[torch._convolution] = _rule(ANY, is_transposed=False)
