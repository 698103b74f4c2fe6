"""TorchScript: what lies on the CPU runs compiled, what lies on a device as the Python it was.

Compiled code is not seen operator by operator in the way that Python is. Where its Python is known,
that runs in its place; where it is not, as after `torch.jit.load`, the code is taken for one
operator: what it makes lies with what it is given.
"""

from __future__ import annotations

import copy
import functools
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn
from torch.jit import RecursiveScriptModule, _builtins
from torch.utils._pytree import tree_leaves

from runtime_guard.virtual.devices.marks import any_on_device, mark_of, place
from runtime_guard.virtual.dispatch.mixing import Watching
from runtime_guard.virtual.dispatch.mode import in_effect
from runtime_guard.virtual.dispatch.overriding import ANSWERS
from runtime_guard.virtual.dispatch.running import common_device, place_all
from runtime_guard.virtual.notices import once
from runtime_guard.virtual.torch_patches.unseeing import unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runtime_guard.virtual.patching import Patches

PYTHON: Final = "_virtual_python"
"""The attribute of a compiled module that holds the module that it was compiled from."""

FUNCTION: Final = "_torchdynamo_inline"
"""That of a compiled function, as torch has it."""

SCRIPTED: Final = "on a device TorchScript runs as the Python that it was compiled from"
OPERATOR: Final = "on a device TorchScript whose Python is not known runs as one operator"

DRAWING: Final = "torch.utils.tensorboard._pytorch_graph"
"""What traces a model for the graph of it alone."""


def install(patches: Patches) -> None:
    """Let compiled code be made, and be seen where it lies on a device."""
    for answer in ANSWERS:
        patches.put_item(_builtins._get_builtin_table(), id(answer), "aten::has_torch_function")
    for name, wrap in (("script", _scripting), ("trace", _tracing), ("trace_module", _tracing)):
        original = getattr(torch.jit, name)
        patches.put(torch.jit, name, functools.wraps(original)(wrap(original)))
    for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        patches.put(kind, "__call__", _placing(kind.__call__))
    patches.put(RecursiveScriptModule, "__deepcopy__", _copying(RecursiveScriptModule.__deepcopy__))


def _scripting(script: Callable[..., Any]) -> Callable[..., Any]:
    def compiled(obj: Any, *args: Any, **kwargs: Any) -> Any:
        # What the names of a class mean is looked up where the program asks.
        frames = kwargs.pop("_frames_up", 0) + 1
        with unseen():
            made = script(obj, *args, _frames_up=frames, **kwargs)
        return _with_python(made, obj)

    return compiled


def _tracing(trace: Callable[..., Any]) -> Callable[..., Any]:
    def traced(func: Any, *args: Any, **kwargs: Any) -> Any:
        """Trace what lies on the CPU; what lies on a device is run as it is, to be checked first.

        TensorBoard traces a model to draw it, and runs nothing of what that makes.
        """
        inputs = args[0] if args else kwargs.get("example_inputs")
        given = args, kwargs, list(func.parameters()) if isinstance(func, nn.Module) else []
        if any_on_device(tree_leaves(given)):
            if trace.__name__ == "trace":
                _run_once(func, inputs, kwargs.get("example_kwarg_inputs"))
            kwargs["check_trace"] = False
            if sys._getframe(1).f_globals["__name__"] != DRAWING:
                once("script", SCRIPTED)
        with unseen():
            return _with_python(trace(func, *args, **kwargs), func)

    return traced


def _run_once(func: Callable[..., Any], inputs: Any, named: Any) -> None:
    if isinstance(named, dict):
        func(**named)
    elif inputs is not None:
        func(*(inputs if isinstance(inputs, tuple) else (inputs,)))


def _with_python(made: Any, obj: Any) -> Any:
    if isinstance(made, RecursiveScriptModule) and made is not obj and isinstance(obj, nn.Module):
        vars(made)[PYTHON] = obj
        vars(made)["forward"] = _Forward(made, obj)
    return made


class _Forward:
    """The `forward` of a compiled module, or of the Python that it was compiled from."""

    def __init__(self, module: Any, python: nn.Module) -> None:
        self._module = module
        self._python = python
        self._compiled = module.forward

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        held = state_of(self._module)
        if not in_effect() or not any_on_device(tree_leaves((args, kwargs, held))):
            return self._compiled(*args, **kwargs)
        once("script", SCRIPTED)
        with _training_as(self._python, self._module):
            return torch.func.functional_call(self._python, held, args, kwargs)


@contextmanager
def _training_as(python: nn.Module, module: Any) -> Iterator[None]:
    """Let each part of a module be in training or not as those of another are."""
    former = {part: part.training for part in python.modules()}
    for name, part in module.named_modules():
        python.get_submodule(name).training = part.training
    try:
        yield
    finally:
        for part, training in former.items():
            part.training = training


def _placing(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - as the method's
        if not in_effect():
            return original(self, *args, **kwargs)
        python = getattr(self, FUNCTION, None)
        if python is not None and any_on_device(tree_leaves((args, kwargs))):
            return python(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            return _run_operator(functools.partial(original, self), self, args, kwargs)

    return __call__


class _Telling(Watching):
    """Keeps what it refuses: the interpreter of TorchScript drops the text of Python's errors."""

    refusal = ""

    def __torch_dispatch__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__torch_dispatch__(*args, **kwargs)
        except RuntimeError as error:
            self.refusal = str(error)
            raise


def _run_operator(compiled: Any, code: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    held = held_by(code.owner) if hasattr(code, "owner") else []
    device = common_device((*args, *kwargs.values(), held))
    if device is ...:
        return _run_mixed(compiled, held, args, kwargs)
    made = compiled(*args, **kwargs)
    if isinstance(device, torch.device):
        once("operator", OPERATOR)
        place_all(made, device)
    return made


def _run_mixed(
    compiled: Any, held: list[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    with _Telling([*given, *held]) as watching:
        try:
            made = compiled(*args, **kwargs)
        except RuntimeError as error:
            if not watching.refusal or watching.refusal in str(error):
                raise
            raise RuntimeError(f"{str(error).rstrip()} {watching.refusal}") from None
    return watching.placed(made)


def state_of(module: Any) -> dict[str, Tensor]:
    """The parameters and buffers of a compiled module, by their names."""
    return dict([*module.named_parameters(), *module.named_buffers()])


def held_by(module: Any) -> list[Any]:
    """The parameters and buffers of a compiled module, and of those in it."""
    own = [*torch._C.ParameterDict(module).items(), *torch._C.BufferDict(module).items()]
    inner = [held_by(part) for _, part in torch._C.ModuleDict(module).items()]
    return [*(tensor for _, tensor in own), *(tensor for part in inner for tensor in part)]


def _copying(original: Callable[..., Any]) -> Callable[..., Any]:
    def __deepcopy__(self: Any, memo: Any) -> Any:  # noqa: N807 - as the method's
        made = original(self, memo)
        with torch._C.DisableTorchFunction():
            for tensor, copied in zip(held_by(self._c), held_by(made._c), strict=True):
                device = mark_of(tensor)
                if device is not None:
                    place(copied, device)
        python = vars(self).get(PYTHON)
        return made if python is None else _with_python(made, copy.deepcopy(python, memo))

    return __deepcopy__
