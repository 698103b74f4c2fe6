"""Backward passes: gradients lie where what they are the gradients of does."""

from __future__ import annotations

import inspect
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils import checkpoint
from torch.utils.hooks import BackwardHook

from runtime_guard.virtual.devices.machine import CPU, is_active, machine
from runtime_guard.virtual.devices.marks import claimed, device_of, keep_on_host, mark_of, place
from runtime_guard.virtual.devices.memory import settle
from runtime_guard.virtual.dispatch.getters import type_name
from runtime_guard.virtual.dispatch.mode import in_effect, seen
from runtime_guard.virtual.dispatch.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches


def install(patches: Patches) -> None:
    """Mark gradients wherever a program can meet them."""
    patches.put(
        torch.autograd, "_engine_run_backward", _engine(torch.autograd._engine_run_backward)
    )
    patches.put(torch.autograd, "_make_grads", _making_grads(torch.autograd._make_grads))
    patches.put(Tensor, "register_hook", _register_hook(Tensor.register_hook))
    patches.put(BackwardHook, "__init__", _backward_hook(BackwardHook.__init__))
    patches.put(torch.autograd.Function, "apply", classmethod(_applied))
    hooks = torch.autograd.graph.saved_tensors_hooks
    patches.put(hooks, "__init__", _packing(hooks.__init__))
    kind = torch.autograd.function.BackwardCFunction
    patches.put(kind, "apply", _backward_of(kind.apply))
    patches.put_item(checkpoint._allowed_determinism_checks_to_fns, "default", _shape_and_dtype)


def _engine(original: Callable[..., Any]) -> Callable[..., Any]:
    def _engine_run_backward(
        roots: Any, gradients: Any, keep: bool, create: bool, inputs: Any, *rest: Any, **more: Any
    ) -> Any:
        tensors = [root for root in roots if isinstance(root, Tensor)]
        with torch._C.DisableTorchFunction():
            _check_roots(tensors, gradients)
            begins = next((mark for mark in map(mark_of, tensors) if mark is not None), None)
        passes = machine().passes
        passes.append(begins)
        try:
            made = original(roots, gradients, keep, create, inputs, *rest, **more)
        finally:
            passes.pop()
        if more.get("accumulate_grad"):
            with torch._C.DisableTorchFunction():
                settle(tensors)
        for source, gradient in zip(inputs or (), made or (), strict=False):
            if isinstance(source, Tensor):
                _follow(gradient, mark_of(source))
        return made

    return _engine_run_backward


def _making_grads(original: Callable[..., Any]) -> Callable[..., Any]:
    def _make_grads(outputs: Any, gradients: Any, *rest: Any, **more: Any) -> Any:
        """Make the gradients of scalars; what is asked of the outputs says nothing of devices."""
        with torch._C.DisableTorchFunction():
            made = original(outputs, gradients, *rest, **more)
            for output, given, item in zip(outputs, gradients, made, strict=True):
                if given is None and isinstance(output, Tensor):
                    _follow(item, mark_of(output))
            return made

    return _make_grads


def _check_roots(roots: list[Tensor], gradients: Any) -> None:
    """Refuse a gradient that lies elsewhere than what it is the gradient of.

    Raises:
        RuntimeError: with the text of `validate_outputs` in torch/csrc/autograd/engine.cpp.
    """
    for place_, (root, gradient) in enumerate(zip(roots, gradients, strict=False)):
        if isinstance(gradient, Tensor) and gradient.dim() and mark_of(gradient) != mark_of(root):
            raise RuntimeError(
                f"invalid gradient at index {place_} - expected device {device_of(root)} but got "
                f"{device_of(gradient)}"
            )


def _follow(gradient: Any, device: torch.device | None) -> Any:
    if isinstance(gradient, Tensor) and device is not None:
        keep_on_host(gradient) if device == CPU else place(gradient, device)
    return gradient


def _known(value: Any) -> torch.device | None:
    """Where a value lies, if it is a tensor, and if that can be known here."""
    if not isinstance(value, Tensor):
        return None
    # Inside of an operation, too, what is made bears no mark yet.
    is_seen = in_effect() and torch._C._current_graph_task_id() == -1
    with torch._C.DisableTorchFunction():
        return device_of(value) if is_seen else claimed(value)


def _register_hook(original: Callable[..., Any]) -> Callable[..., Any]:
    def register_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> Any:
        device = _known(self)
        _keep_what_it_sees(hook)

        def following(gradient: Tensor) -> Any:
            return _of_one_type(hook, gradient, seen(hook, _follow(gradient, device)))

        return original(self, following)

    return register_hook


def _keep_what_it_sees(hook: Callable[..., Any]) -> None:
    """Tell the tensors of the host that a hook names from gradients, which bear no mark either."""
    if not isinstance(hook, FunctionType):
        return
    named = inspect.getclosurevars(hook)
    with torch._C.DisableTorchFunction():
        for value in (*named.nonlocals.values(), *named.globals.values()):
            if isinstance(value, Tensor) and mark_of(value) is None:
                keep_on_host(value)


def _of_one_type(hook: Callable[[Tensor], Any], gradient: Tensor, made: Any) -> Any:
    """What a hook returns for a gradient.

    Raises:
        RuntimeError: it lies elsewhere; the text is that of `check_variable_result` in
            torch/csrc/autograd/custom_function.cpp.
    """
    if isinstance(made, Tensor):
        with torch._C.DisableTorchFunction():
            own, given = mark_of(gradient), claimed(made)
            if own is not None and given is not None and own.type != given.type:
                name = getattr(hook, "__name__", "<unknown>")
                was = f"was {type_name(gradient)} got {type_name(made)}"
                raise RuntimeError(f"hook '{name}' has changed the type of value ({was})")
    return made


def _backward_hook(original: Callable[..., Any]) -> Callable[..., Any]:
    def begin(self: Any, module: Any, user_hooks: Any, user_pre_hooks: Any) -> None:
        hooks = [_following(hook) for hook in user_hooks]
        original(self, module, hooks, [_following(hook) for hook in user_pre_hooks])

    return begin


def _following(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook of a module, whose gradients lie where the pass began, or with the module."""

    def called(module: Any, *gradients: Any) -> Any:
        own = next((mark_of(item) for item in module.parameters()), None)
        roots = machine().passes if is_active() else []
        device = own or (roots[-1] if roots else None)
        for group in gradients:
            for gradient in group if isinstance(group, tuple) else (group,):
                _follow(gradient, device)
        return seen(hook, module, *gradients)

    return called


def _packing(original: Callable[..., None]) -> Callable[..., None]:
    """Let what packs saved tensors be seen: it runs inside of an operation.

    What the operation makes bears no mark yet when it is packed; it lies where the operation runs.
    """

    def begin(self: Any, pack_hook: Callable[[Tensor], Any], unpack_hook: Any) -> None:
        def pack(tensor: Tensor) -> Any:
            operation = sys._getframe(1)
            if operation.f_code is run.__code__ and is_active():
                running_on = operation.f_locals["common"]
                _follow(tensor, running_on if isinstance(running_on, torch.device) else None)
            return seen(pack_hook, tensor)

        original(self, pack, unpack_hook)

    return begin


_apply = torch.autograd.Function.__dict__["apply"].__func__


def _applied(cls: Any, *args: Any, **kwargs: Any) -> Any:
    made = _apply(cls, *args, **kwargs)
    outputs = made if isinstance(made, tuple) else (made,)
    node = next((item.grad_fn for item in outputs if isinstance(item, Tensor)), None)
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        node._virtual_devices = [_known(item) for item in outputs]
        node._virtual_inputs = [_known(item) for item in args]
        for item in (*args, *outputs):
            # It may be saved, and be asked for its device in the backward pass.
            if _known(item) == CPU:
                keep_on_host(item)
    return made


def _backward_of(original: Callable[..., Any]) -> Callable[..., Any]:
    def apply(self: Any, *gradients: Any) -> Any:
        for gradient, device in zip(gradients, getattr(self, "_virtual_devices", ()), strict=False):
            _follow(gradient, device)
        made = seen(original, self, *gradients)
        with torch._C.DisableTorchFunction():
            _check_inputs(self, made if isinstance(made, tuple) else (made,))
        return made

    return apply


def _check_inputs(node: Any, gradients: tuple[Any, ...]) -> None:
    """Refuse what a function of a program returns elsewhere than where its input lies.

    Raises:
        RuntimeError: with the text of `validate_outputs` in torch/csrc/autograd/engine.cpp.
    """
    devices = getattr(node, "_virtual_inputs", ())
    pairs = [pair for pair in zip(gradients, devices, strict=False) if pair[1] is not None]
    for place_, (gradient, device) in enumerate(pairs):
        given = claimed(gradient) if isinstance(gradient, Tensor) and gradient.dim() else None
        if given is not None and given != device:
            raise RuntimeError(
                f"Function {type(node).__name__} returned an invalid gradient at index {place_} - "
                f"expected device {device} but got {given}"
            )


def _shape_and_dtype(tensor: Tensor) -> dict[str, Any]:
    """What a checkpoint compares: outputs are seen before they are marked."""
    return {"shape": tensor.shape, "dtype": tensor.dtype}
