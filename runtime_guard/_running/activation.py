"""Guards the whole process, and its child processes, as the environment or the command line asks.

torch is not imported for it: the guard begins at the moment the program has imported torch, and
a program that never does pays nothing.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime_guard._witnesses import witnesses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType

    from runtime_guard._explaining.handle import Handle
    from runtime_guard._guarding.install import Installation
    from runtime_guard._mismatch import Mismatch
    from runtime_guard._settings import Environment

BOOT = str(Path(__file__).parent / "boot")
"""On the path of child processes: a folder whose `sitecustomize` activates the guard there."""

PACKAGE = str(Path(__file__).parent.parent) + os.sep

CHILD = "RUNTIME_GUARD_CHILD"
"""Set to 1 in the environment of all processes but the first."""

FINDINGS = "RUNTIME_GUARD_FINDINGS"
"""Names the folder where children leave what they found, for the first process to tell."""

_lock = threading.RLock()
_current: list[Activation] = []


class Activation:
    """What is in effect in this process, from now on or from its import of torch on.

    Attributes:
        asked: what was asked for.
        guard: the guard of the process, once torch is imported and where a check was asked for.
        handles: all that is in effect, in the order of its attaching.
    """

    def __init__(self, asked: Environment) -> None:
        self.asked = asked
        self.guard: Installation | None = None
        self.handles: list[Handle] = []
        self.is_child = CHILD in os.environ
        self._finder = TorchFinder(self._start)
        self._former: dict[str, str | None] = {}
        self._started = False

    def begin(self) -> None:
        """Tell child processes, and start now or when the program has imported torch."""
        self._tell_children()
        if "torch" in sys.modules:
            self._start()
        else:
            sys.meta_path.insert(0, self._finder)

    def end(self) -> None:
        """Take everything back."""
        self._finder.remove()
        while self.handles:
            self.handles.pop().remove()
        for name, value in self._former.items():
            _set_variable(name, value)
        self._former.clear()

    def _tell_children(self) -> None:
        from runtime_guard._settings import VARIABLE, to_environment

        told: dict[str, str | None] = dict.fromkeys(_settings_in_environment(VARIABLE))
        told.update(to_environment(self.asked))
        told[CHILD] = "1"
        told["PYTHONPATH"] = _with_boot(os.environ.get("PYTHONPATH", ""))
        for name, value in told.items():
            self._former[name] = os.environ.get(name)
            _set_variable(name, value)

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

        settings = self.asked.settings
        if self.asked.mode == "explain":
            self.handles.append(runtime_guard.explain())
        else:
            options = {name: getattr(settings, name) for name in settings.__slots__}
            self.guard = runtime_guard.install(**options)
            self.handles.append(self.guard)
        if self.asked.record is not None:
            try:
                with self._under_own_name():
                    self.handles.append(runtime_guard.record(self.asked.record))
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


class TorchFinder:
    """Calls back once, when torch has been imported.

    It only lends the loader of torch another `exec_module`, for one call.
    """

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find torch as the finders after this one do; nothing else."""
        if name != "torch":
            return None
        for finder in tuple(sys.meta_path):
            if finder is not self:
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    _call_after_loading(spec, self._callback)
                    return spec
        return None

    def remove(self) -> None:
        """Take this finder away, if it is still there."""
        with suppress(ValueError):
            sys.meta_path.remove(self)


def _call_after_loading(spec: ModuleSpec, callback: Callable[[], None]) -> None:
    loader: Any = spec.loader
    if not hasattr(loader, "__dict__") or isinstance(loader, type):
        return
    load = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        vars(loader).pop("exec_module", None)
        load(module)
        callback()

    # Python leaves the frames of this file out of the traceback of an import that fails.
    machinery = "<frozen importlib._bootstrap_external>"
    exec_module.__code__ = exec_module.__code__.replace(co_filename=machinery)
    loader.exec_module = exec_module


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
    """Do what `RUNTIME_GUARD` asks; warn, and do nothing, where it makes no sense."""
    if not os.environ.get("RUNTIME_GUARD"):
        return
    from runtime_guard._settings import from_environment

    try:
        asked = from_environment(os.environ)
    except ValueError as error:
        complain(f"{error}; nothing is guarded")
        return
    if asked is not None and asked.mode != "off":
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


def _with_boot(path: str) -> str:
    others = [entry for entry in path.split(os.pathsep) if entry != BOOT] if path else []
    return os.pathsep.join([BOOT, *others])


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
            from runtime_guard._running.findings import leave_findings

            leave_findings(activation, folder)

    def witness(mismatch: Mismatch) -> None:
        from runtime_guard._running.findings import Leaving

        # The first one only makes the other, which needs more than a child may ever need.
        witnesses[witnesses.index(witness)] = leaving = Leaving(activation, folder)
        leaving(mismatch)

    witnesses.append(witness)
    atexit.register(at_exit)


def _set_variable(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
