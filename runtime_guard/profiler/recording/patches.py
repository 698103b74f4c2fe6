"""The methods of torch that move data or wait for it: which ones, and how they are exchanged.

They are exchanged on the Python class while somebody listens, so that every other operation costs
what it did.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, MethodType
from typing import Any, NamedTuple

import torch

from runtime_guard.profiler.recording import probes, sequences
from runtime_guard.profiler.recording.watch import (
    Function,
    Listener,
    listeners,
    watch_items,
    watch_moves,
    watch_reads,
)


class Patch(NamedTuple):
    """One attribute to exchange, and how its calls are read."""

    owner: Any
    name: str
    op: str
    watch: Callable[[Function, str, probes.Probe], Function]
    probe: probes.Probe


PACKAGE = str(Path(__file__).parents[2])
OURS = ("runtime_guard.profiler.", "runtime_guard.lines")
"""How the names of the modules begin that run inside a method of torch."""
_TENSOR, _MODULE = torch.Tensor, torch.nn.Module
PATCHES = (
    *(
        Patch(_TENSOR, name, f"Tensor.{name}", watch_moves, probes.moved)
        for name in ("to", "cpu", "cuda", "xpu")
    ),
    Patch(_TENSOR, "copy_", "Tensor.copy_", watch_moves, probes.overwritten),
    Patch(_TENSOR, "new_tensor", "Tensor.new_tensor", watch_moves, probes.created_anew),
    *(
        Patch(_TENSOR, name, f"Tensor.{name}", watch_reads, probes.read)
        for name in ("item", "tolist", "numpy")
    ),
    *(
        Patch(_TENSOR, f"__{name}__", f"{name}()", watch_reads, probes.read)
        for name in ("float", "int", "bool", "index", "complex")
    ),
    Patch(_TENSOR, "__array__", "numpy.asarray()", watch_reads, probes.read),
    Patch(_TENSOR, "__repr__", "repr()", watch_reads, probes.shown),
    Patch(_TENSOR, "__format__", "format()", watch_reads, probes.shown),
    *(
        Patch(_TENSOR, name, f"Tensor.{name}", watch_reads, probes.counted)
        for name in (
            *("nonzero", "argwhere", "masked_select", "unique", "unique_consecutive"),
            *("equal", "allclose", "is_nonzero"),
        )
    ),
    Patch(_TENSOR, "__getitem__", "x[index]", watch_items, probes.picked),
    Patch(_TENSOR, "__setitem__", "x[index]", watch_items, probes.placed),
    *(
        Patch(torch, name, f"torch.{name}", watch_moves, probes.created)
        for name in ("tensor", "as_tensor")
    ),
    *(
        Patch(_MODULE, name, f"Module.{name}", watch_moves, probes.passed_on)
        for name in ("to", "cpu", "cuda", "xpu")
    ),
)

_lock = threading.RLock()
_applied: list[Applied] = []
_full: set[int] = set()


class Watched:
    """A method that is watched where it is called on an instance.

    The class itself still shows the original: sets and tables of functions, `__torch_function__`
    and pickle compare with what `torch.Tensor.to` is. The compiler looks behind that, and finds
    something that equals the original and bears its name.
    """

    def __init__(self, original: Function, watched: Function) -> None:
        functools.update_wrapper(self, original)
        self.original = original
        self.watched = watched

    def __get__(self, instance: object, owner: type | None = None) -> Function:
        return self.original if instance is None else MethodType(self.watched, instance)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.original)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the original."""
        return self.original(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self is other or bool(self.original == other)

    def __hash__(self) -> int:
        return hash(self.original)


class Applied:
    """A patch that is in place."""

    def __init__(self, patch: Patch) -> None:
        self.patch = patch
        self.inherited = patch.name not in vars(patch.owner)
        self.original: Function = getattr(patch.owner, patch.name)
        self.watched = patch.watch(self.original, patch.op, patch.probe)
        if isinstance(patch.owner, type):
            self._there: Any = Watched(self.original, self.watched)
        else:
            # As the original says it, it is not found again by pickle.
            self.watched.__qualname__ = patch.name
            self._there = self.watched
        setattr(patch.owner, patch.name, self._there)

    def undo(self) -> None:
        """Restore the original, unless somebody has put a wrapper around ours meanwhile."""
        owner, name = self.patch.owner, self.patch.name
        if vars(owner).get(name) is not self._there:
            return
        if self.inherited:
            delattr(owner, name)
        else:
            setattr(owner, name, self.original)


def listen(listener: Listener) -> None:
    """Report every transfer to `listener` from now on."""
    with _lock:
        if not _applied:
            _prepare()
            with sequences.none_added(_TENSOR):
                _applied.extend(Applied(patch) for patch in PATCHES if _can_be_set(patch))
            sequences.watch_classes(_TENSOR)
            _tell_scripting(known=True)
        listeners.append(listener)


def ignore(listener: Listener) -> None:
    """Report to it no more; with the last listener the methods are torch's own again."""
    with _lock:
        if listener in listeners:
            listeners.remove(listener)
        if listeners or not _applied:
            return
        _tell_scripting(known=False)
        sequences.leave_classes(_TENSOR)
        with sequences.none_added(_TENSOR):
            while _applied:
                _applied.pop().undo()
        for cache in _caches():
            # Filled with our wrappers; those that were full hold the originals.
            if id(cache) not in _full:
                cache.cache_clear()
        _full.clear()


def _can_be_set(patch: Patch) -> bool:
    """Whether torch has it, and can be given it back as it was."""
    if patch.name == sequences.GET and not sequences.can_be_told(patch.owner):
        return False
    return hasattr(patch.owner, patch.name)


def _prepare() -> None:
    """Let torch remember its own functions where it must not remember ours."""
    _keep_from_compiler()
    devices = sys.modules.get("torch.utils._device")
    if devices is not None and hasattr(devices, "_device_constructors"):
        devices._device_constructors()
    _full.update(id(cache) for cache in _caches() if cache.cache_info().currsize)


def _keep_from_compiler() -> None:
    """Let the compiler not compile our functions where it finds them called, between graphs."""
    frames = torch._C._dynamo.eval_frame
    for name in [each for each in sys.modules if each.startswith(OURS)]:
        for code in _codes(vars(sys.modules[name]).values()):
            if hasattr(frames, "skip_code"):
                frames.skip_code(code)
            elif hasattr(frames, "_FrameExecStrategy"):
                action = frames._FrameAction
                strategy = frames._FrameExecStrategy(action.SKIP, action.DEFAULT)
                frames.set_code_exec_strategy(code, strategy)


def _codes(values: Iterable[object]) -> Iterator[CodeType]:
    for value in values:
        if isinstance(value, type) and value.__module__.startswith("runtime_guard."):
            yield from _codes(vars(value).values())
        code = getattr(value, "__code__", value)
        if isinstance(code, CodeType) and f"{PACKAGE}/" in code.co_filename:
            yield code
            yield from _codes(code.co_consts)


# Where torch keeps sets and tables of its functions, made when they are first needed.
_CACHES = {
    "torch.overrides": ("get_ignored_functions",),
    "torch._dynamo.trace_rules": ("get_torch_obj_rule_map",),
    "torch._dynamo.variables.torch": ("TorchInGraphFunctionVariable._get_handlers",),
}


def _caches() -> Iterator[Any]:
    for module, names in _CACHES.items():
        for name in names if module in sys.modules else ():
            found: Any = sys.modules[module]
            for part in name.split("."):
                found = getattr(found, part, None)
            if hasattr(found, "cache_info"):
                yield found


def _tell_scripting(*, known: bool) -> None:
    """Let torch.jit.script take our wrappers of torch's functions for the functions."""
    try:
        builtins = importlib.import_module("torch.jit._builtins")
        table: dict[int, str] = builtins._get_builtin_table()
    except (ImportError, AttributeError):
        return
    for applied in _applied:
        if applied.patch.owner is torch:
            if known and id(applied.original) in table:
                table[id(applied.watched)] = table[id(applied.original)]
            elif not known:
                table.pop(id(applied.watched), None)
