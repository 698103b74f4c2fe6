"""Guards the whole process, and its child processes, as the environment or the command line asks.

torch is not imported for it: the guard, and the virtual GPU, begin at the moment the program has
imported torch, and a program that never does pays nothing.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from runtime_guard.children import PROOF, ChildEnvironment
from runtime_guard.launcher.torch_import import TorchFinder, once_torch_is_there
from runtime_guard.witnesses import witnesses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from runtime_guard.hooks.install import Installation
    from runtime_guard.mismatch import Mismatch
    from runtime_guard.settings import Environment

PACKAGE = str(Path(__file__).parent.parent) + os.sep

CHILD = "RUNTIME_GUARD_CHILD"
"""Set to 1 in the environment of all processes but the first."""

FINDINGS = "RUNTIME_GUARD_FINDINGS"
"""Names the folder where children leave what they found, for the first process to report."""

_lock = threading.RLock()
_current: list[Activation] = []


class Activation:
    """What is in effect in this process, from now on or from its import of torch on.

    Attributes:
        asked: what was asked for.
        guard: the guard of the process, once torch is imported and where a check was asked for.
        removals: for all that is in effect, in the order of its beginning, what ends it.
    """

    def __init__(self, asked: Environment) -> None:
        self.asked = asked
        self.guard: Installation | None = None
        self.removals: list[Callable[[], object]] = []
        self.is_child = CHILD in os.environ
        self._finder = TorchFinder(self._start)
        self._environment: ChildEnvironment | None = None
        self._started = False

    def begin(self) -> None:
        """Inform child processes, and start now or when the program has imported torch."""
        self._inform_children()
        if "torch" in sys.modules:
            self._start()
        else:
            sys.meta_path.insert(0, self._finder)

    def end(self) -> None:
        """Take everything back."""
        self._finder.remove()
        while self.removals:
            self.removals.pop()()
        if self._environment is not None:
            self._environment.undo()

    def _inform_children(self) -> None:
        from runtime_guard.settings import VARIABLE, to_environment

        variables: dict[str, str | None] = dict.fromkeys(_settings_in_environment(VARIABLE))
        self._environment = ChildEnvironment(
            {**variables, **to_environment(self.asked), CHILD: "1"}
        )

    def _start(self) -> None:
        self._finder.remove()
        with _lock:
            if self._started:
                return
            self._started = True
        try:
            self._attach()
        except Exception as error:  # noqa: BLE001 - the program's own import of torch goes on
            complain(f"runtime_guard is not in effect: {type(error).__name__}: {error}")

    def _attach(self) -> None:
        import runtime_guard

        asked, settings = self.asked, self.asked.settings
        if asked.machine is not None:
            # First, so that what comes next finds the devices that the program will find.
            options = {name: getattr(asked.machine, name) for name in asked.machine.__slots__}
            machine = runtime_guard.virtual_gpu(**options)
            machine.__enter__()
            self.removals.append(partial(machine.__exit__, None, None, None))
        if asked.mode == "explain":
            self.removals.append(runtime_guard.explain().remove)
        elif asked.mode != "off":
            options = {name: getattr(settings, name) for name in settings.__slots__}
            self.guard = runtime_guard.install(**options)
            self.removals.append(self.guard.remove)
        if asked.record is not None:
            self._record(asked.record)

    def _record(self, file: str) -> None:
        import runtime_guard

        try:
            with self._under_own_name():
                self.removals.append(runtime_guard.record(file).remove)
        except (OSError, ValueError) as error:
            complain(f"runtime_guard does not record: {error}")

    @contextmanager
    def _under_own_name(self) -> Iterator[None]:
        """Let the first process not be taken for one of its children, whose mark is set."""
        if not self.is_child:
            os.environ.pop(CHILD, None)
        try:
            yield
        finally:
            os.environ[CHILD] = "1"


def activate(asked: Environment) -> Activation:
    """Put into effect what `asked` says, in the place of what was in effect before."""
    with _lock:
        if _current and _current[-1].asked == asked:
            return _current[-1]
        deactivate()
        activation = Activation(asked)
        _current.append(activation)
    activation.begin()
    return activation


def deactivate() -> None:
    """Take back what `activate` did; nothing stays changed."""
    with _lock:
        while _current:
            _current.pop().end()


def activate_from_environment() -> None:
    """Do what the environment asks; warn, and do nothing, where it makes no sense.

    The command line reads the environment itself, and answers for it. What is part of a proof does
    its part in either case.
    """
    if PROOF in os.environ:
        from runtime_guard.mutation.inside import take_part

        take_part(once_torch_is_there)
    asks = os.environ.get("RUNTIME_GUARD") or os.environ.get("RUNTIME_GUARD_VIRTUAL_GPU")
    if not asks or _is_command_line():
        return
    from runtime_guard.settings import from_environment

    try:
        asked = from_environment(os.environ)
    except ValueError as error:
        virtual = "RUNTIME_GUARD_VIRTUAL_GPU" in os.environ
        besides = ", and there is no virtual GPU" if virtual else ""
        complain(f"{error}; nothing is guarded{besides}")
        return
    _activate_as(asked)


def _activate_as(asked: Environment | None) -> None:
    if asked is not None and (asked.mode != "off" or asked.machine is not None):
        activation = activate(asked)
        if FINDINGS in os.environ:
            _leave_findings(activation, Path(os.environ[FINDINGS]))


def complain(message: str) -> None:
    """Warn at the user's import, without ever raising: that did nothing wrong."""
    frame = sys._getframe()
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    seen = frame.f_globals.setdefault("__warningregistry__", {})
    try:
        file = frame.f_code.co_filename
        warnings.warn_explicit(message, RuntimeWarning, file, frame.f_lineno, registry=seen)
    except RuntimeWarning:
        sys.stderr.write(f"runtime_guard: {message}\n")


def _is_command_line() -> bool:
    """Whether this process is our command line, which has only begun to import us."""
    if sys.argv[:1] == ["-m"]:
        # The word before the arguments, as the interpreter was called.
        return sys.orig_argv[-len(sys.argv)] in ("runtime_guard", "-mruntime_guard")
    return bool(sys.argv) and Path(sys.argv[0]).stem == "runtime-guard"


def _settings_in_environment(prefix: str) -> list[str]:
    return [name for name in os.environ if name.startswith(prefix) and name != FINDINGS]


def _is_ours(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith((PACKAGE, "<frozen importlib"))


def _leave_findings(activation: Activation, folder: Path) -> None:
    """Leave what this child process finds, when it is found and once more at the end."""

    def at_exit() -> None:
        guard = activation.guard
        if guard is not None and (guard.mismatches or guard.steps_done):
            from runtime_guard.launcher.findings import leave_findings

            leave_findings(activation, folder)

    def witness(mismatch: Mismatch) -> None:
        from runtime_guard.launcher.findings import Leaving

        # The first one only makes the other, which needs more than a child may ever need.
        witnesses[witnesses.index(witness)] = leaving = Leaving(activation, folder)
        leaving(mismatch)

    witnesses.append(witness)
    atexit.register(at_exit)
