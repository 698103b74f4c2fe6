"""Executes a `py run` block on the virtual GPU: torch must object where the page says."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mdtest.expectations import Expectation

DEVICES = 2
OBJECTIONS = (RuntimeError, TypeError, ValueError, AttributeError, AssertionError)
"""What torch raises about devices; a NameError is no finding's."""


@dataclass(frozen=True)
class Difference:
    """A line that did not do when executed what the page says of it."""

    line: int
    expected: str
    actual: str


class Execution:
    """One run of a block.

    Attributes:
        raised: by marked line, the first error that its statement raised.
        revealed: by line, the devices of what `reveal_device` was given.
        failure: the line and the text of the error that ended the run; None where none did.
    """

    def __init__(self) -> None:
        self.raised: dict[int, BaseException] = {}
        self.revealed: dict[int, list[str]] = {}
        self.failure: tuple[int, str] | None = None

    def note(self, line: int, error: BaseException) -> None:
        self.raised.setdefault(line, error)

    def reveal(self, value: Any) -> Any:
        device = getattr(value, "device", None) or next(value.parameters()).device
        self.revealed.setdefault(sys._getframe(1).f_lineno, []).append(str(device))
        return value


def differences(code: str, path: str, expectations: Iterable[Expectation]) -> Iterator[Difference]:
    """Where the block, executed, does something else than its page announces."""
    announced = [one for one in expectations if not one.todo]
    raising = raising_in(announced)
    done = execute(code, path, {one.line for one in raising}, devices=DEVICES)
    if done.failure is not None:
        yield Difference(done.failure[0], "runs on the virtual GPU", done.failure[1])
    for one in raising:
        error = done.raised.get(one.line)
        if error is None:
            yield Difference(one.line, "raises on the virtual GPU", "nothing is raised")
        elif one.kind == "raises" and (one.message or "") not in str(error):
            yield Difference(one.line, str(one), f"{type(error).__name__}: {error}")
    for one in announced:
        if one.kind == "revealed" and not _met(one.message or "", done.revealed.get(one.line)):
            found = ", ".join(done.revealed.get(one.line, ["the line is never reached"]))
            yield Difference(one.line, f"{one} on the virtual GPU", found)


def raising_in(announced: Iterable[Expectation]) -> list[Expectation]:
    """The lines that raise: those marked `# raises`, or else where an error is found."""
    marked = tuple(announced)
    raising = [one for one in marked if one.kind == "raises"]
    return raising or [one for one in marked if one.kind == "error"]


def _met(message: str, devices: list[str] | None) -> bool:
    if devices is None:
        return False
    return message.startswith("unknown") or all(
        device in message or device.partition(":")[0] == message for device in devices
    )


def execute(code: str, path: str, marked: set[int], *, devices: int) -> Execution:
    """Run code as a script: on so many virtual devices, or on the CPU alone where that is 0.

    A statement on a marked line that raises is noted, and the run goes on after it.
    """
    done = Execution()
    tree = ast.fix_missing_locations(_Forgiving(marked).visit(ast.parse(code)))
    names = {
        "__name__": "__main__",
        "_objections_": OBJECTIONS,
        "_note_": done.note,
        "reveal_device": done.reveal,
    }
    with _as_a_script(path, devices):
        try:
            exec(compile(tree, path, "exec"), names)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever ends it is a difference
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno or 1 for frame in frames if frame.filename == path]
            done.failure = (lines[-1] if lines else 1, f"{type(error).__name__}: {error}")
    return done


@contextlib.contextmanager
def _as_a_script(path: str, devices: int) -> Iterator[None]:
    """A folder and arguments of its own, nothing printed, seeds as they were."""
    import torch

    from runtime_guard import virtual_gpu

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.callback(os.chdir, Path.cwd())
        os.chdir(folder)
        argv, sys.argv = sys.argv, [path]
        stack.callback(setattr, sys, "argv", argv)
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        stack.callback(torch.set_rng_state, torch.get_rng_state())
        torch.manual_seed(0)
        if devices:
            stack.enter_context(virtual_gpu(devices))
        yield


class _Forgiving(ast.NodeTransformer):
    """Lets what a marked statement raises be noted instead."""

    def __init__(self, marked: set[int]) -> None:
        self._marked = marked

    def generic_visit(self, node: ast.AST) -> Any:
        super().generic_visit(node)
        if not isinstance(node, ast.stmt):
            return node
        line = next((line for line in sorted(self._marked) if line in _own_lines(node)), None)
        return node if line is None else _noting(node, line)


def _own_lines(node: ast.stmt) -> range:
    """The lines of a statement without those of its body."""
    body = getattr(node, "body", None)
    end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return range(node.lineno, max(end, node.lineno) + 1)


def _noting(node: ast.stmt, line: int) -> ast.stmt:
    template = f"try:\n    pass\nexcept _objections_ as _error_:\n    _note_({line}, _error_)\n"
    noting = ast.parse(template).body[0]
    assert isinstance(noting, ast.Try)
    noting.body = [node]
    for inner in ast.walk(noting.handlers[0]):
        ast.copy_location(inner, node)
    return ast.copy_location(noting, node)
