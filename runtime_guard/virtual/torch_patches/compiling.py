"""torch.compile and TorchScript run the Python that they are given, and it is said once.

Only eager paths can be proven. torch.compile keeps its objects, under its own stance
`force_eager`; torch.jit does what it does where PYTORCH_JIT=0, and returns what it is given.
"""

from __future__ import annotations

import functools
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

import torch

from runtime_guard.virtual.devices.storages import seen_plainly
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runtime_guard.virtual.patching import Patches

COMPILED: Final = "what torch.compile is given runs eagerly; the compiled path is not proven"
SCRIPTED: Final = "TorchScript runs as the Python that it was made from; {} compiles nothing"
EXPORTED: Final = "{} sees the model as one of the CPU; what it makes is not proven"
UNSAVED: Final = (
    "virtual GPU: nothing can be saved as TorchScript, because torch.jit.script and torch.jit.trace"
    " return the Python that they are given; save the state_dict, or save it outside the block"
)
UNLOADED: Final = (
    "virtual GPU: TorchScript cannot be loaded, because its operations are not seen; build the "
    "model in Python, or load it outside the block"
)

DRAWING: Final = "torch.utils.tensorboard._pytorch_graph"
"""What traces a model for the graph of it alone."""

EXPORTERS: Final = (
    ("torch.export", "export"),
    ("torch.export", "export_for_training"),
    ("torch.onnx", "export"),
)
"""What makes a program of a model by tracing it, by module and name."""


def install(patches: Patches) -> None:
    """Let compiled and scripted code run as Python."""
    _install_compile(patches)
    for name, replacement in (("script", _script), ("trace", _trace), ("trace_module", _same)):
        original = getattr(torch.jit, name)
        patches.put(torch.jit, name, functools.wraps(original)(replacement))
    patches.put(torch.jit, "save", _refuse(UNSAVED))
    patches.put(torch.jit, "load", _refuse(UNLOADED))
    for module, name in EXPORTERS:
        holder = getattr(torch, module.removeprefix("torch."))
        if hasattr(holder, name):
            patches.put(holder, name, _outside(getattr(holder, name), f"{module}.{name}"))


def _install_compile(patches: Patches) -> None:
    from torch._dynamo import decorators, eval_frame

    eager = eval_frame.DynamoStance("force_eager")
    patches.put(eval_frame, "_stance", eager)

    def _set_stance(stance: Any) -> Any:
        return eager

    patches.put(decorators, "_set_stance", _set_stance)
    compile_ = torch.compile

    @functools.wraps(compile_)
    def compile(*args: Any, **kwargs: Any) -> Any:  # noqa: A001 - torch's own name
        once("compile", COMPILED)
        if kwargs.get("backend") in (None, "inductor"):
            # Importing it takes seconds, and it is never asked to compile.
            kwargs["backend"] = "eager"
        return compile_(*args, **kwargs)

    patches.put(torch, "compile", compile)


_compiled = torch.jit.script
_traced = torch.jit.trace


def _script(obj: Any, *args: Any, **kwargs: Any) -> Any:
    if (getattr(obj, "__module__", None) or "").startswith("torch._decomp"):
        # Derivatives that torch itself compiles, the first time that forward ones are asked for.
        return _compiled(obj, *args, **kwargs)
    once("script", SCRIPTED.format("torch.jit.script"))
    return obj


def _trace(func: Any, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Run what is traced once, as tracing does, and return it.

    TensorBoard traces a model to draw it, and runs nothing of what that makes.
    """
    named = kwargs.get("example_kwarg_inputs")
    if isinstance(named, dict):
        func(**named)
    elif example_inputs is not None:
        func(*(example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)))
    if sys._getframe(1).f_globals["__name__"] == DRAWING:
        with _unseen():
            return _traced(func, example_inputs, *args, check_trace=False, **kwargs)
    once("trace", SCRIPTED.format("torch.jit.trace"))
    return func


def _same(mod: Any, *args: Any, **kwargs: Any) -> Any:
    once("trace", SCRIPTED.format("torch.jit.trace_module"))
    return mod


def _refuse(text: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(text)

    return refuse


def _outside(export: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(export)
    def export_outside(*args: Any, **kwargs: Any) -> Any:
        once(name, EXPORTED.format(name))
        with _unseen():
            return export(*args, **kwargs)

    return export_outside


@contextmanager
def _unseen() -> Iterator[None]:
    """Let torch work as it does outside the block, on tensors of the CPU."""
    modes = []
    while torch.overrides._len_torch_function_stack():
        modes.append(torch.overrides._pop_mode())
    try:
        with seen_plainly():
            yield
    finally:
        while modes:
            torch.overrides._push_mode(modes.pop())
