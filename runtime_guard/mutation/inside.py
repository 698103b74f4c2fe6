"""What a process does that is part of a proof: it runs the planned text and leaves what came of it.

The processes that it starts do the same, each for itself.
"""

from __future__ import annotations

import atexit
import builtins
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime_guard.children import PROOF
from runtime_guard.mutation.failures import failure_of
from runtime_guard.mutation.marking import MADE
from runtime_guard.mutation.plan import Folder, Left
from runtime_guard.mutation.replacing import replace_files

if TYPE_CHECKING:
    from runtime_guard.mutation.plan import Plan
    from runtime_guard.mutation.stepping import Steps


NOTEBOOK = ".ipynb"
OF_NOTEBOOKS: dict[str, Callable[..., None]] = {
    "display": lambda *_values, **_options: None,
    "get_ipython": lambda: None,
}
"""What a notebook finds without an import; nobody looks at a run."""


def take_part(once_torch_is_there: Callable[[Callable[[], None]], object]) -> None:
    """Do what the environment says for a proof; nothing where it says nothing."""
    folder = os.environ.get(PROOF)
    if folder:
        part = Part(Folder(Path(folder)))
        part.begin()
        once_torch_is_there(part.watch_training)


class Part:
    """The part of one process, and of those that are forked off it."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._plan: Plan = folder.read_plan()
        self._steps: Steps | None = None
        self._process = os.getpid()
        self._is_main = folder.claim()

    def begin(self) -> None:
        """Let the planned text be read, keep which marks it reaches, and report the end."""
        replace_files(self._plan)
        folder, reached = self._folder, set[int]()

        def made(index: int, value: Any) -> Any:
            if index not in reached:
                reached.add(index)
                folder.note(index)
            return value

        setattr(builtins, MADE, made)
        if any(file.endswith(NOTEBOOK) for file in self._plan.texts):
            for name, value in OF_NOTEBOOKS.items():
                vars(builtins).setdefault(name, value)
        atexit.register(self._at_exit)

    def watch_training(self) -> None:
        """Begin to count steps; torch is there."""
        from runtime_guard.mutation.stepping import Steps, begin_at_the_same_seeds

        begin_at_the_same_seeds()
        self._steps = Steps(self._plan.steps, self._at_process, self._keep)

    def _keep(self, left: Left) -> None:
        self._folder.leave(os.getpid(), left)

    def _at_process(self) -> None:
        """Report the end of a process that functions of atexit are not called for."""
        if self._is_forked or not self._is_main:
            from multiprocessing.util import Finalize

            Finalize(None, self._leave, exitpriority=0)

    @property
    def _is_forked(self) -> bool:
        return os.getpid() != self._process

    def _at_exit(self) -> None:
        if not self._is_forked:
            self._leave()

    def _leave(self) -> None:
        left = Left() if self._steps is None else self._steps.left()
        if self._is_main and not self._is_forked:
            # What the interpreter has printed the traceback of, if anything.
            error = getattr(sys, "last_value", None)
            left.failure = None if error is None else failure_of(error)
        self._keep(left)
