"""The hook that a guarded module carries, and scripting, which does not bear it."""

from __future__ import annotations

import contextlib
from itertools import dropwhile
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from runtime_guard.check.verdict import fits
from runtime_guard.patch import Link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runtime_guard.hooks.checking import Checking
    from runtime_guard.hooks.enforcement import Arguments


class InputCheck:
    """A forward pre-hook with keyword arguments; all modules of one guard share it.

    It changes nothing when a call is right, so that torch.compile traces it inline. Copies of a
    guarded model are not guarded, and a pickled one loads where runtime_guard is not installed:
    in both a callable of the standard library that does nothing stands in the hook's place.
    """

    __slots__ = ("_checking",)

    def __init__(self, checking: Checking) -> None:
        # The hooks are what keeps a guard alive whose handle nobody keeps.
        self._checking = checking

    def __call__(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Arguments | None:
        """Check what the module is about to be given."""
        if kwargs is None:
            return None  # The guard was removed since torch looked for the hooks of this call.
        return None if fits(module, args, kwargs) else self._examine(module, args, kwargs)

    def _examine(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Arguments | None:
        hooks = module._forward_pre_hooks
        later = dropwhile(lambda hook: hook is not self, hooks.values())
        if not all(isinstance(hook, InputCheck) for hook in later):
            # A hook that runs later may move the arguments: this one goes behind it, and judges
            # from the next call on.
            for key in [key for key, hook in hooks.items() if hook is self]:
                hooks.move_to_end(key)
            return None
        return self._checking.enforcement.examine(module, args, kwargs)

    def __repr__(self) -> str:
        return f"InputCheck({self._checking.settings})"

    def __deepcopy__(self, memo: object) -> Callable[..., object]:
        return contextlib.nullcontext().__exit__

    def __reduce__(self) -> tuple[object, ...]:
        return getattr, (contextlib.nullcontext(), "__exit__")


def let_script() -> Link | None:
    """Let torch.jit.script compile guarded modules without the hook, which it cannot compile.

    Returns:
        What takes it back; None where this torch scripts in another way.
    """
    scripting = getattr(torch.jit, "_recursive", None)
    if not hasattr(scripting, "create_script_module"):
        return None
    return Link(scripting, "create_script_module", _script_without_hooks)


def _script_without_hooks(
    previous: Callable[..., Any], module: nn.Module, *args: Any, **kwargs: Any
) -> Any:
    with _lifted(module):
        return previous(module, *args, **kwargs)


@contextlib.contextmanager
def _lifted(root: nn.Module) -> Iterator[None]:
    kept = []
    for module in root.modules():
        hooks, flags = module._forward_pre_hooks, module._forward_pre_hooks_with_kwargs
        kept.append((hooks, dict(hooks), flags, dict(flags)))
        for key in [key for key, hook in hooks.items() if isinstance(hook, InputCheck)]:
            del hooks[key]
            flags.pop(key, None)
    try:
        yield
    finally:
        for hooks, all_hooks, flags, all_flags in kept:
            hooks.clear()
            hooks.update(all_hooks)
            flags.clear()
            flags.update(all_flags)
