"""Runs programs on machines with no, one and two virtual GPUs, all in this process.

The machine without a GPU is plain torch: on a computer that has some, they have to be hidden
(`CUDA_VISIBLE_DEVICES=`).  Or else programs run on these, and on no other machine.
"""

from __future__ import annotations

import linecache
import os
import shutil
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from benchmarks.differential import restoring
from benchmarks.differential.cuda import Cuda
from benchmarks.differential.noting import Notes, lines_of, raised
from benchmarks.differential.origins import Origins
from benchmarks.differential.outcomes import MACHINES, NO_ACCELERATOR, DeviceError, Run
from benchmarks.differential.program import Program
from benchmarks.differential.regions import CAUGHT, REACHED, TESTED, Watched, watched
from runtime_guard import virtual_gpu
from runtime_guard.messages.explain import annotate, is_device_error, notes_of
from runtime_guard.messages.texts import text_of

_OF_THE_MACHINE = (NO_ACCELERATOR, "number of a device")
"""The kinds of errors that say that the machine lacks what the program asks for."""


@dataclass(frozen=True)
class _Case:
    """A program that is about to run."""

    program: Program
    code: Watched


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
        cuda: the GPUs on which they run, and on no other machine; None for virtual ones.
    """

    def __init__(self, folder: Path, *, cuda: Cuda | None = None) -> None:
        self._folder = folder
        self._cuda = cuda
        self._environment = dict(os.environ)
        self.file = str(folder / "program.py")

    def run(self, programs: Sequence[Program]) -> Iterator[Ran]:
        """Run each program on each machine; those of one virtual machine after another.

        Raises:
            ContextLost: the program after those that were given has made CUDA unusable.
        """
        cases = [_Case(program, self._watched(program.text)) for program in programs]
        if self._cuda is not None:
            for case in cases:
                yield Ran(case.program, case.code, (self._run(case, self._cuda.gpus),))
            return
        alone = [self._run(case, 0) for case in cases]
        # The first block changes torch, and those inside of it only which devices there are.
        with virtual_gpu(max(MACHINES)):
            others = [self._on_gpus(case) for case in cases]
        for case, first, rest in zip(cases, alone, others, strict=True):
            yield Ran(case.program, case.code, (first, *rest))

    def _watched(self, text: str) -> Watched:
        """The program to execute; of a text that is none, one that says so."""
        try:
            return watched(text, self.file)
        except SyntaxError as error:
            return watched(f"raise SyntaxError({str(error)!r})\n", self.file)

    def _on_gpus(self, case: _Case) -> Sequence[Run]:
        runs: list[Run] = []
        for gpus in MACHINES[1:]:
            runs.append(self._run(case, gpus, runs[-1].error if runs else None))
        return runs

    def _run(self, case: _Case, gpus: int, known: DeviceError | None = None) -> Run:
        """Run a program; what is known of the error on another machine holds of the same one."""
        run = self._once(case, gpus, None)
        if run.error is None:
            return run
        if known is not None and known.is_like(run.error):
            return replace(run, error=known)
        # Watching each call costs much more than running it: only what fails is run again.
        origins = Origins(self.file)
        again = self._once(case, gpus, origins)
        if again.error is None or again.error.trace != run.error.trace:
            return run
        error = replace(
            again.error,
            operation=origins.operation,
            culprits=again.error.culprits | origins.operands.made,
            callers=frozenset(origins.operands.callers),
        )
        return replace(run, error=error)

    def _once(self, case: _Case, gpus: int, origins: Origins | None) -> Run:
        main = ModuleType("__main__")
        main.__file__ = self.file
        notes = Notes(self.file)
        calls = {REACHED: notes.reached.add, CAUGHT: notes.catch, TESTED: notes.test}
        vars(main).update(calls)
        restoring.fresh()
        if self._cuda is not None:
            self._cuda.begin()
        try:
            with (
                restoring.kept(main, self._environment),
                notes.of_flags(),
                notes.of_losses(),
                virtual_gpu(gpus) if gpus and self._cuda is None else nullcontext(),
            ):
                notes.error = raised(case.code, main, origins)
                if self._cuda is not None:
                    self._cuda.settle()
                return self._told(case, gpus, notes, explains=origins is not None)
        finally:
            self._empty()

    def _told(self, case: _Case, gpus: int, notes: Notes, *, explains: bool) -> Run:
        """What came of a run, told while the devices are there that its error speaks of."""
        code = case.code
        passed = Run(
            gpus,
            "passed",
            frozenset(notes.reached),
            caught=frozenset(notes.caught),
            flags=notes.flags,
            conditions=notes.conditions(code),
            losses=tuple(notes.losses),
        )
        if notes.error is None:
            return passed
        error = _device_error_of(notes.error)
        if error is None:
            return replace(passed, ending="other error", said=self._other(notes.error))
        if explains:
            rows = case.program.text.splitlines(keepends=True)
            linecache.cache[self.file] = (len(case.program.text), None, rows, self.file)
            annotate(error)
        told = self._error(error)
        if told.kind in _OF_THE_MACHINE:
            # Every string that named an accelerator until then has asked for it.
            named = (at for at in code.accelerators if code.was_reached(at, passed.reached))
            told = replace(told, culprits=frozenset(map(code.line_of, named)))
        return replace(passed, ending="device error", error=told)

    def _other(self, error: BaseException) -> str:
        """What an error says that is not about devices, and where."""
        lines = lines_of(error.__traceback__, self.file)
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        return f"line {lines[-1] if lines else 0}: {said}"

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
def bench(*, cuda: Cuda | None = None) -> Iterator[Bench]:
    """A bench for as long as the block runs; the current folder is its own meanwhile."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="differential-") as name:
        folder = Path(name).resolve()
        os.chdir(folder)
        try:
            # Each seed would note the text of a traceback, for a device that never comes.
            with restoring.flags_are_free(), patch.object(traceback, "format_stack", list):
                yield Bench(folder, cuda=cuda)
        finally:
            os.chdir(before)


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


def _lines_named(notes: Sequence[str], name: str) -> Iterator[int]:
    """The lines of a file that an explanation names: `program.py:12`."""
    for note in notes:
        for after in note.split(f"{name}:")[1:]:
            digits = after[: len(after) - len(after.lstrip("0123456789"))]
            if digits:
                yield int(digits)
