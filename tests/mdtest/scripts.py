"""What a script finds around it when it is run: a folder, a machine, and nothing of other runs."""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.mdtest.page import Files, Run


@contextlib.contextmanager
def as_a_script(script: ModuleType, path: str, run: Run) -> Iterator[None]:
    """A folder, arguments and environment of its own, nothing printed."""
    import devicelint
    from runtime_guard import virtual_gpu

    with ExitStack() as stack:
        stack.enter_context(folder_with(run.files))
        stack.enter_context(_imports_from_here())
        stack.callback(_restore_environment, dict(os.environ))
        stack.callback(sys.modules.__setitem__, "__main__", sys.modules["__main__"])
        sys.modules["__main__"] = script
        stack.enter_context(_exchanged(sys, "argv", [path, *run.arguments]))
        stack.enter_context(_exchanged(sys, "stdin", io.StringIO()))
        stack.enter_context(_exchanged(devicelint, "reveal_device", script.reveal_device))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(_settings_of_torch())
        stack.callback(_forget_accelerators)
        if run.before:
            with virtual_gpu(2):
                exec(compile(run.before, "before.py", "exec"), vars(ModuleType("__main__")))
        if run.devices:
            stack.enter_context(virtual_gpu(run.devices))
        yield


@contextlib.contextmanager
def _imports_from_here() -> Iterator[None]:
    """Files beside the script are imported, and forgotten after it."""
    here, known = str(Path.cwd()), set(sys.modules)
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
        for name in set(sys.modules) - known:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(here):
                del sys.modules[name]


@contextlib.contextmanager
def folder_with(files: Files) -> Iterator[None]:
    """A folder of its own, with these files, to work in."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files:
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextlib.contextmanager
def _exchanged(holder: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, before)


def _restore_environment(before: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(before)


def _forget_accelerators() -> None:
    """Forget the device that accelerate chose, which it keeps for as long as a process lives."""
    if "accelerate.state" in sys.modules:
        for name in ("AcceleratorState", "GradientState", "PartialState"):
            getattr(sys.modules["accelerate.state"], name)._reset_state()


@contextlib.contextmanager
def _settings_of_torch() -> Iterator[None]:
    """torch's own settings as they were, whatever the script made of them."""
    import torch

    generator, dtype, chance = torch.get_rng_state(), torch.get_default_dtype(), random.getstate()
    torch.manual_seed(0)
    random.seed(0)
    try:
        with torch.set_grad_enabled(True):
            yield
    finally:
        random.setstate(chance)
        torch.set_rng_state(generator)
        torch.set_default_dtype(dtype)
        torch.set_default_device(None)
