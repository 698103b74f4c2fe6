"""Operators that a program brings along: Python kernels run, compiled ones are not seen.

A kernel that is registered for the accelerator is registered for host memory as well, and called
only where its tensors live on the virtual device.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, library
from torch._library import custom_ops
from torch.utils import cpp_extension

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.devices.marks import any_on_device
from runtime_guard.virtual.dispatch.mode import seen, seen_operator
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

COMPILED: Final = (
    "compiled operators are not seen ({}): what they are given is not checked, and what they make "
    "may seem to lie on the CPU"
)
NO_KERNEL: Final = (
    "Could not run '{0}' with arguments from the 'CPU' backend. This could be because the operator "
    "doesn't exist for this backend, or was omitted during the selective/custom build process (if "
    "using custom build)."
)

HOSTS: Final = frozenset({"CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd"})
"""The keys of kernels that run on tensors of host memory."""

LOADERS: Final = ("load", "load_inline")
"""What compiles operators and loads them."""


class _Standing:
    """The kernels of accelerators that stand in for those of host memory, by operator."""

    def __init__(self, impl: Callable[..., Any]) -> None:
        self._impl = impl
        self._libraries: dict[str, Any] = {}

    def register(self, name: str, kernel: Callable[..., Any]) -> None:
        """Let a kernel of the accelerator be found for host memory, where there is none."""
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU"):
            return
        self._libraries[name] = made = library.Library(name.partition("::")[0], "IMPL")
        self._impl(made, name.partition("::")[2], _of_the_device(name, kernel), "CPU")

    def forget(self, name: str) -> None:
        """Make way for a kernel of the CPU's own."""
        if name in self._libraries:
            self._libraries.pop(name)._destroy()

    def forget_all(self) -> None:
        """Take all back."""
        for name in list(self._libraries):
            self.forget(name)


def install(patches: Patches) -> None:
    """Let operators be registered, and say what is not seen."""
    impl = library.Library.impl
    standing = _Standing(impl)
    patches.at_undo(standing.forget_all)
    patches.put(library.Library, "impl", _registering(impl, standing))
    _see_what_is_there(patches)
    kind = type(torch.ops)
    patches.put(kind, "load_library", _telling(kind.load_library, "torch.ops.load_library"))
    for name in LOADERS:
        loader = getattr(cpp_extension, name)
        patches.put(cpp_extension, name, _telling(loader, f"torch.utils.cpp_extension.{name}"))


def _registering(impl: Callable[..., Any], standing: _Standing) -> Callable[..., Any]:
    @functools.wraps(impl)
    def register(
        self: Any, op_name: Any, fn: Any, dispatch_key: str = "", *args: Any, **options: Any
    ) -> Any:
        key = dispatch_key or self.dispatch_key
        name = op_name if isinstance(op_name, str) else op_name._schema.name
        name = name if "::" in name else f"{self.ns}::{name}"
        if key == "CPU":
            standing.forget(name)
        kernel = _seen_inside(fn) if key in HOSTS and not options.get("with_keyset") else fn
        made = impl(self, op_name, kernel, dispatch_key, *args, **options)
        if key == machine().name.upper() and not options.get("with_keyset"):
            standing.register(name, fn)
        return made

    return register


def _seen_inside(kernel: Any) -> Any:
    """A kernel whose own calls are seen; that of a library may be another operator, or none."""
    if not isinstance(kernel, FunctionType):
        return kernel
    return functools.wraps(kernel)(functools.partial(seen_operator, kernel))


def _see_what_is_there(patches: Patches) -> None:
    """Let operators that `torch.library.custom_op` made before the block be seen inside, too."""
    for operator in list(getattr(custom_ops, "OPDEFS", {}).values()):
        kernels = operator._backend_fns
        for device, kernel in list(kernels.items()):
            patches.put_item(kernels, device, _seen_inside(kernel))


def _of_the_device(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that is called with tensors of the device alone, and whose own calls are seen.

    Raises:
        NotImplementedError: the tensors lie on the CPU, for which there is no kernel.
    """

    def standing_in(*args: Any, **kwargs: Any) -> Any:
        given = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        if given and not any_on_device(given):
            raise NotImplementedError(NO_KERNEL.format(name))
        return seen(kernel, *args, **kwargs)

    return standing_in


def _telling(load: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(load)
    def load_and_tell(*args: Any, **kwargs: Any) -> Any:
        once("compiled operators", COMPILED.format(name))
        return load(*args, **kwargs)

    return load_and_tell
