"""Training steps, counted outside the hooks: by the optimizers' own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from torch.optim.optimizer import register_optimizer_step_post_hook

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from runtime_guard.hooks.checking import Checking


class StepCounter:
    """Counts the steps of the optimizers that concern a check, and reports each to it.

    The run's step is that of the optimizer which has made most: two optimizers that take turns,
    as in a GAN, make one step together.
    """

    def __init__(self, checking: Checking) -> None:
        self.count = 0
        # torch's list of hooks must not keep a model alive that the user let go.
        self._checking = ref(checking)
        self._counts: WeakKeyDictionary[Optimizer, int] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._registered: Any = None
        self._ended = False

    def attach(self) -> None:
        """Begin to listen to the optimizers of the process."""
        if self._registered is None:
            self._registered = register_optimizer_step_post_hook(self._stepped)

    def remove(self) -> None:
        """Stop listening; the count stays."""
        if self._registered is not None:
            self._registered.remove()
            self._registered = None

    def advance(self) -> None:
        """Count one step that no optimizer made."""
        with self._lock:
            self.count += 1
        self._tell()

    def end(self) -> None:
        """Count no more: from now on a step costs what it did, but for asking whether to count.

        The optimizer's hooks cannot be taken away here: it is running them.
        """
        self._ended = True

    def _stepped(self, optimizer: Optimizer, _args: object, _kwargs: object) -> None:
        if not self._ended and self._count(optimizer):
            self._tell()

    def _count(self, optimizer: Optimizer) -> bool:
        """Count the optimizer's step; whether the run's step is a new one."""
        checking = self._checking()
        if checking is None:
            return False
        with self._lock:
            if optimizer not in self._counts and not checking.concerns(optimizer):
                return False
            steps = self._counts.get(optimizer, 0) + 1
            self._counts[optimizer] = steps
            further = steps > self.count
            self.count = max(self.count, steps)
        return further

    def _tell(self) -> None:
        checking = self._checking()
        if checking is not None:
            checking.reached(self.count)
