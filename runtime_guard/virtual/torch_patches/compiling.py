"""torch.compile runs the Python that it is given, and it is said once.

Only eager paths can be proven. torch.compile keeps its objects, under its own stance `force_eager`.
"""

from __future__ import annotations

import functools
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard.virtual.devices.storages import seen_plainly
from runtime_guard.virtual.dispatch.overriding import answered_by_torch
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runtime_guard.virtual.patching import Patches

COMPILED: Final = "what torch.compile is given runs eagerly; the compiled path is not proven"
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
    def compile(*args: Any, **kwargs: Any) -> Any:  # noqa: A001 - torch's own name
        if not sys._getframe(1).f_globals["__name__"].startswith("torch."):
            once("compile", COMPILED)
        if kwargs.get("backend") in (None, "inductor"):
            # Importing it takes seconds, and it is never asked to compile.
            kwargs["backend"] = "eager"
        return compile_(*args, **kwargs)

    patches.put(torch, "compile", compile)


def _explaining(explain: Callable[..., Any], stance: Any) -> Callable[..., Any]:
    """Explain what torch would compile: as outside the block, where it does."""

    @functools.wraps(explain)
    def explained(func: Any, *args: Any, **kwargs: Any) -> Any:
        def inner(*args: Any, **kwargs: Any) -> Any:
            from torch._dynamo import eval_frame

            eager, eval_frame._stance = eval_frame._stance, stance
            try:
                with unseen():
                    return explain(func)(*args, **kwargs)
            finally:
                eval_frame._stance = eager

        return inner(*args, **kwargs) if args or kwargs else inner

    return explained


def _outside(export: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(export)
    def export_outside(*args: Any, **kwargs: Any) -> Any:
        once(name, EXPORTED.format(name))
        with unseen():
            return export(*args, **kwargs)

    return export_outside


@contextmanager
def unseen() -> Iterator[None]:
    """Let torch work as it does outside the block, on tensors of the CPU."""
    modes = []
    while torch.overrides._len_torch_function_stack():
        modes.append(torch.overrides._pop_mode())
    try:
        with seen_plainly(), answered_by_torch():
            yield
    finally:
        while modes:
            torch.overrides._push_mode(modes.pop())
