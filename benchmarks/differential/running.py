"""Runs programs on machines with no, one and two virtual GPUs, all in this process.

The machine without a GPU is plain torch: on a computer that has some, they have to be hidden
(`CUDA_VISIBLE_DEVICES=`).  Or else programs run on these alone.
"""

from __future__ import annotations

import argparse
import io
import linecache
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any
from unittest.mock import patch

import torch

from benchmarks.checking import TookTooLong, limited
from benchmarks.differential import restoring
from benchmarks.differential.origins import Origins
from benchmarks.differential.outcomes import MACHINES, NO_ACCELERATOR, DeviceError, Run
from benchmarks.differential.program import Program
from benchmarks.differential.regions import CAUGHT, REACHED, TESTED, Watched, watched
from runtime_guard import virtual_gpu
from runtime_guard.messages.explain import annotate, is_device_error, notes_of
from runtime_guard.messages.texts import text_of

LIMIT = 20
"""In seconds: a program that takes longer on one machine has not run through."""

_OF_THE_MACHINE = (NO_ACCELERATOR, "number of a device")
"""The kinds of errors that say that the machine lacks what the program asks for."""


@dataclass(frozen=True)
class Ran:
    """A program, and what became of it on each machine."""

    program: Program
    code: Watched
    runs: tuple[Run, ...]


class Bench:
    """Where programs run: a folder of their own, and nobody who sees what they print.

    Args:
        folder: empty, and the current one while programs run.
        real: whether they run on the GPUs of this machine, and on no other machine.
    """

    def __init__(self, folder: Path, *, real: bool = False) -> None:
        self._folder = folder
        self._real = real
        self._environment = dict(os.environ)
        self.file = str(folder / "program.py")

    def run(self, programs: Sequence[Program]) -> list[Ran]:
        """Run each program on each machine; those of one machine after another."""
        codes = [watched(program.text, self.file) for program in programs]
        pairs = list(zip(programs, codes, strict=True))
        if self._real:
            gpus = min(torch.cuda.device_count(), max(MACHINES))
            return [Ran(*pair, (self._run(*pair, gpus),)) for pair in pairs]
        alone = [self._run(*pair, 0) for pair in pairs]
        # The first block changes torch, and those inside of it only which devices there are.
        with virtual_gpu(max(MACHINES)):
            others = [self._on_gpus(*pair) for pair in pairs]
        runs = [(first, *rest) for first, rest in zip(alone, others, strict=True)]
        return list(map(Ran, programs, codes, runs))

    def _on_gpus(self, program: Program, code: Watched) -> Sequence[Run]:
        runs: list[Run] = []
        for gpus in MACHINES[1:]:
            runs.append(self._run(program, code, gpus, runs[-1].error if runs else None))
        return runs

    def _run(
        self, program: Program, code: Watched, gpus: int, known: DeviceError | None = None
    ) -> Run:
        """Run a program; what is known of the error on another machine holds of the same one."""
        run = self._once(program, code, gpus, None)
        if run.error is None:
            return run
        if known is not None and known.is_like(run.error):
            return replace(run, error=known)
        # Watching each call costs much more than running it: only what fails is run again.
        origins = Origins(self.file)
        again = self._once(program, code, gpus, origins)
        if again.error is None or again.error.trace != run.error.trace:
            return run
        error = replace(
            again.error,
            operation=origins.operation,
            culprits=again.error.culprits | origins.operands.made,
            callers=frozenset(origins.operands.callers),
        )
        return replace(run, error=error)

    def _once(self, program: Program, code: Watched, gpus: int, origins: Origins | None) -> Run:
        main = ModuleType("__main__")
        main.__file__ = self.file
        notes = _Notes(self.file)
        calls = {REACHED: notes.reached.add, CAUGHT: notes.catch, TESTED: notes.test}
        vars(main).update(calls)
        restoring.fresh()
        try:
            with (
                restoring.kept(main, self._environment),
                notes.of_flags(),
                virtual_gpu(gpus) if gpus and not self._real else nullcontext(),
            ):
                notes.error = _raised(code, main, origins)
                explains = origins is not None
                return self._told(program, code, gpus, notes, explains=explains)
        finally:
            self._empty()

    def _told(
        self, program: Program, code: Watched, gpus: int, notes: _Notes, *, explains: bool
    ) -> Run:
        """What came of a run, told while the devices are there that its error speaks of."""
        run = Run(
            gpus,
            "passed",
            frozenset(notes.reached),
            caught=frozenset(notes.caught),
            flags=notes.flags,
            conditions=notes.conditions(code),
        )
        error = notes.error
        if error is None:
            return run
        about_devices = _device_error_of(error)
        if about_devices is None:
            lines = lines_of(error.__traceback__, self.file)
            said = f"{type(error).__name__}: {error}".splitlines()[0]
            return replace(
                run, ending="other error", said=f"line {lines[-1] if lines else 0}: {said}"
            )
        if explains:
            rows = program.text.splitlines(keepends=True)
            linecache.cache[self.file] = (len(program.text), None, rows, self.file)
            annotate(about_devices)
        told = self._error(about_devices)
        if told.kind in _OF_THE_MACHINE:
            # Every string that named an accelerator until then has asked for it.
            named = (at for at in code.accelerators if code.was_reached(at, run.reached))
            told = replace(told, culprits=frozenset(map(code.line_of, named)))
        return replace(run, ending="device error", error=told)

    def _error(self, error: BaseException) -> DeviceError:
        text = text_of(error)
        return DeviceError(
            text.name if text else NO_ACCELERATOR,
            str(error).strip().partition("\n")[0],
            "",
            tuple(lines_of(error.__traceback__, self.file)),
            causes=frozenset(_lines_named(notes_of(error), Path(self.file).name)),
        )

    def _empty(self) -> None:
        """Leave nothing in the folder that the next program would find."""
        os.chdir(self._folder)
        for entry in os.scandir(self._folder):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                Path(entry.path).unlink()


@contextmanager
def bench(*, real: bool = False) -> Iterator[Bench]:
    """A bench for as long as the block runs; the current folder is its own meanwhile."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="differential-") as name:
        folder = Path(name).resolve()
        os.chdir(folder)
        try:
            # Each seed would note the text of a traceback, for a device that never comes.
            with patch.object(traceback, "format_stack", list):
                yield Bench(folder, real=real)
        finally:
            restoring.fresh()
            os.chdir(before)


@dataclass
class _Notes:
    """What a program leaves while it runs."""

    file: str
    reached: set[int] = field(default_factory=set)
    caught: set[int] = field(default_factory=set)
    tested: set[tuple[int, bool]] = field(default_factory=set)
    namespaces: list[argparse.Namespace] = field(default_factory=list)
    error: BaseException | None = None

    def catch(self) -> None:
        """Called where the program has caught something."""
        error = sys.exc_info()[1]
        if error is not None and is_device_error(error):
            self.caught.update(lines_of(error.__traceback__, self.file))

    def test(self, number: int, value: object) -> bool:
        """Called with the value of a condition; its truth."""
        truth = bool(value)
        self.tested.add((number, truth))
        return truth

    def conditions(self, code: Watched) -> dict[str, frozenset[bool]]:
        """What each condition came to; what is written in several places, in all of them."""
        found: dict[str, frozenset[bool]] = {}
        for number, truth in self.tested:
            text = code.conditions[number]
            found[text] = found.get(text, frozenset()) | {truth}
        return found

    @property
    def flags(self) -> dict[str, object]:
        """What argparse gave, and the program has made of it."""
        return {name: value for each in self.namespaces for name, value in vars(each).items()}

    @contextmanager
    def of_flags(self) -> Iterator[None]:
        """Keep what argparse gives to the program."""
        parse = argparse.ArgumentParser.parse_known_args

        def parsed(parser: argparse.ArgumentParser, *given: Any, **named: Any) -> Any:
            found = parse(parser, *given, **named)
            self.namespaces.append(found[0])
            return found

        parser: Any = argparse.ArgumentParser
        parser.parse_known_args = parsed
        try:
            yield
        finally:
            parser.parse_known_args = parse


class _Nobody(io.TextIOBase):
    """Nobody reads what a program prints."""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        return len(text)


def _raised(code: Watched, main: ModuleType, origins: Origins | None) -> BaseException | None:
    """Execute a program; what it raised, if anything."""
    try:
        with ExitStack() as stack:
            stack.enter_context(redirect_stdout(_Nobody()))
            stack.enter_context(redirect_stderr(_Nobody()))
            stack.enter_context(limited(LIMIT))
            if origins is not None:
                stack.enter_context(origins)
            exec(code.code, vars(main))
    except SystemExit as end:
        return end if end.code else None
    except (Exception, TookTooLong) as error:  # noqa: BLE001 - whatever it is, it is told
        return error
    return None


def _device_error_of(error: BaseException) -> BaseException | None:
    """The device error that an exception is, or that led to it."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        if is_device_error(each) or _lacks_cuda(each):
            return each
        seen.add(id(each))
        each = each.__cause__ or each.__context__
    return None


def _lacks_cuda(error: BaseException) -> bool:
    """Whether a torch without CUDA lacks the function with which CUDA would say that it has no GPU.

    runtime_guard does not know this text, since it says nothing of devices.
    """
    return isinstance(error, AttributeError) and "'torch._C' has no attribute '_cuda_" in str(error)


def lines_of(traceback: TracebackType | None, file: str) -> list[int]:
    """The lines of a file in a traceback, the innermost last."""
    lines = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            lines.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    return lines


def _lines_named(notes: Sequence[str], name: str) -> Iterator[int]:
    """The lines of a file that an explanation names: `program.py:12`."""
    for note in notes:
        for after in note.split(f"{name}:")[1:]:
            digits = after[: len(after) - len(after.lstrip("0123456789"))]
            if digits:
                yield int(digits)
