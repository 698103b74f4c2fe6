"""torch.compile runs the Python that it is given where that meets a device, and it is said once.

Only eager paths can be proven. torch.compile keeps its objects, under its own stance `force_eager`;
what meets only tensors of the CPU is compiled, as outside the block.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard.virtual.notices import once
from runtime_guard.virtual.torch_patches.compiled_on_host import as_outside, choosing
from runtime_guard.virtual.torch_patches.unseeing import unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

EXPORTED: Final = "{} sees the model as one of the CPU; what it makes is not proven"
EXPORTERS: Final = (
    ("torch.export", "export"),
    ("torch.export", "export_for_training"),
    ("torch.onnx", "export"),
)
"""What makes a program of a model by tracing it, by module and name."""


def install(patches: Patches) -> None:
    """Let compiled code run as Python."""
    _install_compile(patches)
    for module, name in EXPORTERS:
        holder = getattr(torch, module.removeprefix("torch."))
        if hasattr(holder, name):
            patches.put(holder, name, _outside(getattr(holder, name), f"{module}.{name}"))


def _install_compile(patches: Patches) -> None:
    from torch._dynamo import decorators, eval_frame

    stance, eager = eval_frame._stance, eval_frame.DynamoStance("force_eager")
    patches.put(eval_frame, "_stance", eager)

    def _set_stance(stance: Any) -> Any:
        return eager

    patches.put(decorators, "_set_stance", _set_stance)
    explain = torch._dynamo.explain
    patches.put(torch._dynamo, "explain", _explaining(explain, stance))
    compile_ = torch.compile

    @functools.wraps(compile_)
    def compile(model: Any = None, **kwargs: Any) -> Any:  # noqa: A001 - torch's own name
        if model is None:
            return functools.partial(compile, **kwargs)
        if sys._getframe(1).f_globals["__name__"].startswith("torch."):
            return compile_(model, **{**kwargs, "backend": "eager"})
        # To import its own back end takes seconds.
        made = compile_(model, **{**kwargs, "backend": "eager", "mode": None, "options": None})
        truly = functools.partial(compile_, model, **kwargs)
        return choosing(model, made, truly, stance)

    patches.put(torch, "compile", compile)


def _explaining(explain: Callable[..., Any], stance: Any) -> Callable[..., Any]:
    """Explain what torch would compile: as outside the block, where it does."""

    @functools.wraps(explain)
    def explained(func: Any, *args: Any, **kwargs: Any) -> Any:
        def inner(*args: Any, **kwargs: Any) -> Any:
            with unseen(), as_outside(stance):
                return explain(func)(*args, **kwargs)

        return inner(*args, **kwargs) if args or kwargs else inner

    return explained


def _outside(export: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(export)
    def export_outside(*args: Any, **kwargs: Any) -> Any:
        once(name, EXPORTED.format(name))
        with unseen():
            return export(*args, **kwargs)

    return export_outside
