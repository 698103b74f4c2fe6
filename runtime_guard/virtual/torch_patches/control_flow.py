"""Operators that take functions, `torch.cond` and its like: the Python that they are made of runs.

torch compiles such functions to find what else they read. Nothing is compiled here, so gradients
flow as they do through any other Python.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard.virtual.dispatch.mode import in_effect

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

OPERATORS: Final = {
    "associative_scan": "associative_scan_op",
    "cond": "cond_op",
    "flex_attention": "flex_attention",
    "map": "map_impl",
    "scan": "scan_op",
    "while_loop": "while_loop_op",
}
"""By their module in `torch._higher_order_ops`; not every release has each."""


def install(patches: Patches) -> None:
    """Let their Python run where gradients are wanted, too."""
    for module, name in OPERATORS.items():
        operator = getattr(sys.modules.get(f"torch._higher_order_ops.{module}"), name, None)
        kernels = getattr(operator, "py_kernels", {})
        keys = torch._C.DispatchKey.Autograd, torch._C.DispatchKey.CompositeExplicitAutograd
        if operator is not None and all(key in kernels for key in keys):
            differentiated, plain = map(kernels.get, keys)
            operator._dispatch_cache.clear()
            patches.at_undo(operator._dispatch_cache.clear)
            patches.put_item(kernels, keys[0], _plain_in_block(plain, differentiated))


def _plain_in_block(plain: Any, differentiated: Any) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        return (plain if in_effect() else differentiated)(*args, **kwargs)

    return kernel
