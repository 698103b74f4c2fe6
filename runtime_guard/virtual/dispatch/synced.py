"""The kernels of SyncBatchNorm, which torch has for accelerators alone, in terms of others."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from runtime_guard.virtual.dispatch.calls import HANDLERS, Handler
from runtime_guard.virtual.dispatch.running import run


def _dims(values: Tensor) -> list[int]:
    return [dim for dim in range(values.dim()) if dim != 1]


def _along(channels: Tensor, values: Tensor) -> Tensor:
    """One number for each channel, in the shape of the values."""
    return channels.view(1, -1, *[1] * (values.dim() - 2))


def _stats(values: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    variance, mean = torch.var_mean(values.float(), _dims(values), correction=0)
    return mean, torch.rsqrt(variance + eps)


def _gather_stats(  # noqa: PLR0913, PLR0917 - as torch's
    values: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    counts: Tensor,
) -> tuple[Tensor, Tensor]:
    weights = counts.view(-1, 1).to(mean.dtype)
    total = weights.sum()
    together = (mean * weights).sum(0) / total
    spread = invstd.pow(-2) - eps + (mean - together).square()
    variance = (spread * weights).sum(0) / total
    if running_mean is not None:
        running_mean.lerp_(together.to(running_mean.dtype), momentum)
    if running_var is not None:
        unbiased = variance * total / (total - 1)
        running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    return together, torch.rsqrt(variance + eps)


def _normalised(
    values: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    invstd: Tensor,
    eps: float,
) -> Tensor:
    made = (values - _along(mean, values)) * _along(invstd, values)
    made = made if weight is None else made * _along(weight, values)
    made = made if bias is None else made + _along(bias, values)
    return made.to(values.dtype)


def _backward_reduce(  # noqa: PLR0913, PLR0917 - as torch's
    grad: Tensor,
    values: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    of_input: bool,
    of_weight: bool,
    of_bias: bool,
) -> tuple[Tensor | None, ...]:
    total = grad.float().sum(_dims(grad))
    product = (grad * (values - _along(mean, values))).float().sum(_dims(grad))
    dtype = grad.dtype if weight is None else weight.dtype
    return (
        total if of_input else None,
        product if of_input else None,
        (product * invstd).to(dtype) if of_weight else None,
        total.to(dtype) if of_bias else None,
    )


def _backward_values(  # noqa: PLR0913, PLR0917 - as torch's
    grad: Tensor,
    values: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    total: Tensor,
    product: Tensor,
    counts: Tensor,
) -> Tensor:
    number = counts.sum()
    slope = _along(invstd.square() * product / number, values)
    centred = (values - _along(mean, values)) * slope
    made = (grad - _along(total / number, values) - centred) * _along(invstd, values)
    return (made if weight is None else made * _along(weight, values)).to(values.dtype)


def _standing_in(kernel: Any) -> Handler:
    """Run what stands in for a kernel as one operation, of tensors that lie together."""

    def handler(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return run(kernel, args, kwargs)

    return handler


HANDLERS.update(
    {
        torch.batch_norm_stats: _standing_in(_stats),
        torch.batch_norm_gather_stats_with_counts: _standing_in(_gather_stats),
        torch.batch_norm_elemt: _standing_in(_normalised),
        torch.batch_norm_backward_reduce: _standing_in(_backward_reduce),
        torch.batch_norm_backward_elemt: _standing_in(_backward_values),
    }
)
