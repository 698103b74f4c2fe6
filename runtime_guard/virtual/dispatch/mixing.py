"""Runs an operation whose tensors lie on several devices, as CUDA would run or refuse it.

What is called may be made of many operators, and some of them may allow the mix. So each of them is
watched while the call runs, and held to the rule of its kernel.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from runtime_guard.virtual.devices.machine import CPU
from runtime_guard.virtual.devices.marks import claimed, device_of, mark_of, place, storage_of
from runtime_guard.virtual.dispatch import kernels
from runtime_guard.virtual.dispatch.overriding import in_backward
from runtime_guard.virtual.dispatch.rules import table

COMPOSITES = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
"""The keys under which torch keeps operators that are made of others on every device.

Those of the first are taken apart before they are watched, but in `torch.inference_mode`.
"""

OWN_RULES: dict[Any, Any] = {}
"""Functions that CUDA checks before any kernel: the rule is called with the same arguments, and
raises where CUDA would."""


def run_mixed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run what was given tensors of several devices.

    Raises:
        RuntimeError: CUDA would refuse them, with its text.
    """
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    if torch._C._current_graph_task_id() != -1:
        # Here what bears no mark may lie anywhere: it was made where nothing is seen.
        marks = {mark for mark in map(claimed, tensors) if mark is not None}
        if len(marks) < 2:
            return _placed(func(*args, **kwargs), marks.pop() if marks else in_backward())
    own = OWN_RULES.get(func)
    if own is not None:
        own(*args, **kwargs)
    with Watching(tensors) as watching:
        made = func(*args, **kwargs)
    return watching.placed(made)


def _placed(made: Any, device: torch.device | None) -> Any:
    from runtime_guard.virtual.dispatch.running import place_all

    if device is not None:
        place_all(made, device)
    return made


class Watching(TorchDispatchMode):
    """Sees the operators that a call is made of, and where each of their tensors lies."""

    def __init__(self, tensors: list[Tensor]) -> None:
        super().__init__()
        # What bears no mark was given as a tensor of the CPU, or is made on the way: anywhere.
        # They are kept for as long as they are known, so that no other can have their address.
        is_backward = torch._C._current_graph_task_id() != -1
        self._hosts = {
            address(tensor): tensor
            for tensor in tensors
            if (claimed(tensor) == CPU if is_backward else mark_of(tensor) is None)
        }
        self._given = [device_of(tensor) for tensor in tensors]

    def lies(self, tensor: Tensor) -> torch.device | None:
        """Where a tensor lies; None if it may lie anywhere."""
        mark = mark_of(tensor)
        if mark is not None:
            return mark
        if tensor.device.type == "meta" or address(tensor) in self._hosts:
            return tensor.device
        return None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        given = kernels.given(func, args, kwargs or {}, self.lies)
        composite = composite_key(func) if given.is_mixed else None
        if composite is not None:
            with self:
                return func._op_dk(composite, *args, **(kwargs or {}))
        device = given.checked(func)
        made = func(*args, **(kwargs or {}))
        if device is not None:
            self._mark(made, device)
        return made

    def _mark(self, made: Any, device: torch.device) -> None:
        for leaf in tree_leaves(made):
            if isinstance(leaf, Tensor) and mark_of(leaf) is None:
                if address(leaf) in self._hosts:
                    continue
                if device.type == "cpu":
                    self._hosts[address(leaf)] = leaf
                else:
                    place(leaf, device)

    def placed(self, made: Any) -> Any:
        """What the call gave: whatever of it may lie anywhere lies with what it was given."""
        device = next((given for given in self._given if given.type != "cpu"), None)
        if device is not None and device.type != "meta":
            self._mark(made, device)
        return made


def composite_key(func: Any) -> Any:
    """Where torch keeps what an operator is made of; None where it has a rule of its own."""
    rule = table().rules.get(kernels.name_of(func))
    if kernels.name_of(func) in kernels.OWN or (rule is not None and rule.kind != "composite"):
        return None
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    key = next((key for key in COMPOSITES if has(func.name(), key)), None)
    return None if key is None else getattr(torch._C.DispatchKey, key)


def address(tensor: Tensor) -> int:
    """What two tensors have in common that share their memory."""
    storage = storage_of(tensor)
    return id(tensor) if storage is None else int(storage._cdata)
