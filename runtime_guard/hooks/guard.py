"""Guards one model: a hook on each module that has tensors, or whose arguments may disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime_guard.check.own import modules_of
from runtime_guard.check.verdict import is_worth_checking
from runtime_guard.hooks.checking import Checking
from runtime_guard.hooks.module_hooks import InputCheck, let_script
from runtime_guard.placement.placement import report, warn_of
from runtime_guard.settings import settings_from

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import nn
    from torch.optim import Optimizer

    from runtime_guard.patch import Link
    from runtime_guard.placement.placement import Placement
    from runtime_guard.settings import Action, Settings


class Guard(Checking):
    """The handle that `guard` returns: function, context manager and decorator.

    Attributes:
        model: what is guarded.
        placement: where its tensors lay when it was guarded.
    """

    def __init__(
        self, model: nn.Module, settings: Settings, optimizer: Optimizer | None = None
    ) -> None:
        super().__init__(settings, model)
        self.model = model
        self.placement: Placement = report(model, optimizer)
        self._check = InputCheck(self)
        self._hooks: list[Any] = []
        self._scripting: Link | None = None

    def __repr__(self) -> str:
        state = f"checks {len(self._hooks)} modules" if self.checking else "checks nothing now"
        return f"<guard of {type(self.model).__name__}: {state}, {self.settings}>"

    def _begin(self) -> None:
        self._scripting = let_script()
        for path, module in modules_of(self.model):
            if self.settings.chooses(path) and is_worth_checking(module):
                hook = module.register_forward_pre_hook(self._check, with_kwargs=True)
                self._hooks.append(hook)

    def _end(self) -> None:
        if self._scripting is not None:
            self._scripting.remove()
            self._scripting = None
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def concerns(self, optimizer: Optimizer) -> bool:
        """Whether an optimizer steps parameters of the guarded model."""
        own = {id(parameter) for parameter in self.model.parameters()}
        groups = optimizer.param_groups
        return any(id(parameter) in own for group in groups for parameter in group["params"])


def guard(  # noqa: PLR0913 - each is an option that stands for itself
    model: nn.Module,
    *,
    action: Action = "raise",
    steps: int | None = None,
    every: int = 1,
    only: str | Iterable[str] = (),
    skip: str | Iterable[str] = (),
    optimizer: Optimizer | None = None,
    meta: bool = False,
) -> Guard:
    """Check before each forward of `model`'s modules that its inputs are on the module's device.

    Every tensor among the positional and keyword arguments is compared with the module's own
    parameters and buffers; a leaf without any has its arguments compared with each other. What
    CUDA allows is allowed. Also warns of what is left behind on the CPU, and explains the device
    errors that torch raises.

    Args:
        model: the model; wrappers (DDP, compiled) may be given as well.
        action: `raise` a `DeviceMismatchError`, `warn` once for each place, or `move` the tensor
            to the module's device, counting what was moved.
        steps: check so many training steps, then cost nothing.
        every: check one training step of so many.
        only: a pattern (`encoder.*`), or several, for the paths of modules to check.
        skip: the same for those to leave unchecked.
        optimizer: its parameters and state join the placement report.
        meta: judge tensors on `meta` as well.

    Returns:
        A handle: `remove()` takes everything back. `with guard(model):` guards a block, and
        `@guard(model)` a function.

    Raises:
        TypeError: `model` is not a module.
        ValueError: an option has a value that it cannot have.
    """
    _require_module(model)
    settings = settings_from(
        action=action, steps=steps, every=every, only=only, skip=skip, meta=meta
    )
    handle = Guard(model, settings, optimizer)
    warn_of(handle.placement)
    handle.attach()
    return handle


def _require_module(model: object) -> None:
    from torch import nn

    if not isinstance(model, nn.Module):
        raise TypeError(f"guard() takes a torch.nn.Module, not {type(model).__name__}")
