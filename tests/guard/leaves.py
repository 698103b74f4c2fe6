"""Leaves, networks and a function, for the tests of gradients on the virtual GPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

CPU = torch.device("cpu")
GPU = torch.device("cuda:0")
OTHER = torch.device("cuda:1")


def leaf(*shape: int, device: torch.device = GPU) -> Tensor:
    return torch.ones(shape, device=device, requires_grad=True)


def network(device: torch.device = GPU) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(device)


def gradient_of(tensor: Tensor) -> Tensor:
    assert tensor.grad is not None
    return tensor.grad


class Scaled(torch.autograd.Function):
    """Makes what it needs on the way back where its gradient is."""

    @staticmethod
    def forward(ctx, value, factor):
        ctx.save_for_backward(value)
        ctx.factor = factor
        return value * factor

    @staticmethod
    def backward(ctx, gradient):
        (value,) = ctx.saved_tensors
        assert value.device == gradient.device
        ones = torch.ones(gradient.shape, device=gradient.device)
        mask = torch.zeros_like(value) + ones.to(gradient.device, gradient.dtype)
        return gradient * mask * ctx.factor, None


class ScaledOnce(Scaled):
    """Cannot be differentiated twice."""

    backward = staticmethod(once_differentiable(Scaled.backward))
