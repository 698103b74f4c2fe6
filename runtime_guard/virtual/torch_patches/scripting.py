"""TorchScript that a program brings along: classes of it are Python, compiled code is one operator.

What was compiled before the block runs as it is, and is taken for an operator: all that it is given
lies together, and so does what it makes.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from runtime_guard.virtual.dispatch.mixing import Watching
from runtime_guard.virtual.dispatch.running import common_device, place_all
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

Compiled = torch.jit.ScriptModule

UNCOMPILED = "TorchScript runs as the Python that it was made from; classes of it compile nothing"


class _Kind(type):
    """Knows compiled modules, too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, Compiled)


class ScriptModule(nn.Module, metaclass=_Kind):
    """What `torch.jit.ScriptModule` is where PYTORCH_JIT=0: a module of Python."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        once("script_module", UNCOMPILED)
        super().__init__(*args, **kwargs)


def install(patches: Patches) -> None:
    """Let classes of TorchScript be Python's, and compiled code be seen."""
    patches.put(torch.jit, "ScriptModule", ScriptModule)
    patches.put(torch.jit, "script_method", lambda fn: fn)
    for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        patches.put(kind, "__call__", _placing(kind.__call__))


def _placing(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - as the method's
        from runtime_guard.virtual.dispatch.mode import in_effect

        if not in_effect():
            return original(self, *args, **kwargs)
        with torch._C.DisableTorchFunction():
            return _run(functools.partial(original, self), self, args, kwargs)

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


def _run(compiled: Any, code: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    held = _held(code.owner) if hasattr(code, "owner") else []
    device = common_device((*args, *kwargs.values(), held))
    if device is ...:
        return _run_mixed(compiled, held, args, kwargs)
    made = compiled(*args, **kwargs)
    if isinstance(device, torch.device):
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


def _held(module: Any) -> list[Any]:
    """The parameters and buffers of a compiled module, and of those in it."""
    own = [*torch._C.ParameterDict(module).items(), *torch._C.BufferDict(module).items()]
    inner = [_held(part) for _, part in torch._C.ModuleDict(module).items()]
    return [*(tensor for _, tensor in own), *(tensor for part in inner for tensor in part)]
