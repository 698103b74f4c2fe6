"""What draws random numbers: a device that has gone apart draws from its own stream."""

from __future__ import annotations

import functools
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor
from torch.utils import _device

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.devices.names import resolved
from runtime_guard.virtual.dispatch import (  # noqa: F401 - register what is wrapped here
    factories,
    handling,
)
from runtime_guard.virtual.dispatch.calls import HANDLERS
from runtime_guard.virtual.dispatch.running import common_device, run
from runtime_guard.virtual.namespaces.seeding import defaults, drawing

if TYPE_CHECKING:
    from runtime_guard.virtual.dispatch.calls import Handler

FACTORIES: Final = "rand randn randint randperm normal".split()
"""What makes tensors on the device that it is given, or on the default one."""

OPERATIONS: Final = """
    rand_like randn_like randint_like bernoulli multinomial poisson binomial rrelu rrelu_ dropout
    dropout_ alpha_dropout alpha_dropout_ feature_dropout feature_dropout_ feature_alpha_dropout
    feature_alpha_dropout_ native_dropout lstm gru rnn_tanh rnn_relu _standard_gamma
    _sample_dirichlet
""".split()
"""Functions of `torch` that native_functions.yaml tags `nondeterministic_seeded`."""

METHODS: Final = """
    bernoulli bernoulli_ multinomial normal_ uniform_ random_ exponential_ geometric_ cauchy_
    log_normal_
""".split()
"""Methods of tensors that it tags so."""


def _wrapped(inner: Handler) -> Handler:
    @functools.wraps(inner)
    def draw(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        device = None if kwargs.get("generator") is not None else _where(func, args, kwargs)
        if device is None or device.type != machine().name:
            return inner(func, args, kwargs)
        own = defaults()[device.index]
        own.drawn()
        if own.follows:
            return inner(func, args, kwargs)
        with drawing(device):
            return inner(func, args, kwargs)

    return draw


def _where(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.device | None:
    """On which device a call draws, as far as it can be known before."""
    wanted = kwargs.get("device")
    if wanted is None and func in _FACTORIES:
        wanted = _device.CURRENT_DEVICE
    if wanted is not None:
        with suppress(AssertionError, RuntimeError):
            return resolved(wanted)
        return None
    device = common_device((*args, *kwargs.values()))
    return device if isinstance(device, torch.device) else None


_FACTORIES = frozenset(getattr(torch, name) for name in FACTORIES)
_DRAWING = [
    *_FACTORIES,
    *(getattr(torch, name) for name in OPERATIONS if hasattr(torch, name)),
    *(getattr(Tensor, name) for name in METHODS),
    torch._C._nn.scaled_dot_product_attention,
    torch._C._nn.rrelu_with_noise,
]

HANDLERS.update({func: _wrapped(HANDLERS.get(func, run)) for func in _DRAWING})
