"""What is loaded without map_location, and what it turns out to be used for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import libcst as cst

from devicelint.domain.checkpoints import ReadFile
from devicelint.domain.events import Event, Load, LoadUse, Transfer
from devicelint.domain.history import Site, Step
from devicelint.domain.values import TRUE, Checkpoint, Const, FileSource, Unknown, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.facts.failures import raising_before
from devicelint.interpreter.facts.file_sources import source_of
from devicelint.interpreter.facts.machines.around import is_left_open, is_taken_around
from devicelint.interpreter.facts.machines.choices import (
    first_function,
    is_for_accelerators,
    is_program,
    leaves_the_cpu,
    part_of,
)
from devicelint.interpreter.python.stdlib.paths import name_of
from devicelint.interpreter.torch.operations.excuses import (
    CPU_FILE,
    CPU_PROGRAM,
    FAILS_BEFORE,
    FOR_ACCELERATORS,
    NO_CHECKPOINT,
    OFFLOADED,
    ExcuseCase,
)
from devicelint.interpreter.torch.operations.verdicts import is_excused


class LoadedFile(NamedTuple):
    """A file that is read: where it comes from, and which part of the program reads it."""

    source: FileSource | None
    name: str | None
    part: object
    is_program: bool
    """Whether the statements of the file lead there, rather than whoever imports it."""
    is_reached: bool
    """Whether no line before raises on this machine."""
    reader: Site
    """The function in which it is read."""
    after: frozenset[Site]
    """The lines that raise on the way there, and may be reported."""

    @classmethod
    def of(cls, run: Run, path: Argument | None) -> LoadedFile:
        """What is read here."""
        source = None if path is None else source_of(path.value)
        name = None if path is None else name_of(path.value)
        is_reached, reader = not run.state.failed, run.frame.node
        after = raising_before(run)
        return cls(source, name, part_of(run), is_program(run), is_reached, reader, after)


def note_use(run: Run, value: Value, use: LoadUse) -> None:
    """Remember what a loaded value is used as, or what code that is not seen makes of it."""
    notes = run.find_hearer(Loads)
    loaded = None if notes is None else notes.loaded_in(value)
    if notes is not None and loaded is not None:
        notes.use(loaded, use)


def note_asked(run: Run, value: Checkpoint, key: Value | None) -> None:
    """Remember the key of an item of what was loaded."""
    notes = run.find_hearer(Loads)
    if notes is not None:
        notes.ask(value, key)


def note_moved(run: Run, step: Site) -> None:
    """Something that was loaded and then moved turns out to be a model."""
    notes = run.find_hearer(Loads)
    if notes is not None and step in notes.moved:
        notes.use(notes.moved[step], LoadUse.MODEL)


@analysis
class Loads(Analysis):
    """Notes the loads without map_location, and what they are used for."""

    serves = frozenset({Load})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.loads: dict[Site, Load] = {}
        self.readings: dict[Site, LoadedFile] = {}
        self.entries: dict[Site, set[Site]] = {}
        """The functions that nobody is seen to call, from which walks came to each load."""
        self.moved: dict[Site, Checkpoint] = {}
        """What was loaded, by the transfer that moved it."""
        self.made: dict[Site, Checkpoint] = {}
        """What code that is not seen was given, by the call of it."""
        self.offloading: set[Site] = set()
        """Where FSDP is told to save a full state dict from the CPU, wherever the model is."""

    def fork(self) -> Loads:
        """What is loaded is told at the end, wherever the walk has found it."""
        return self

    def on_transfer(self, transfer: Transfer) -> None:
        """Remember what is moved of what was loaded."""
        if isinstance(transfer.receiver, Checkpoint):
            self.moved[transfer.site] = transfer.receiver

    def on_returning(self, frame: Frame) -> None:
        """What a function returns that nothing here calls is for other files to use."""
        if frame.caller is not None and frame.site is None:
            for value, _ in frame.returns:
                if isinstance(value, Checkpoint):
                    self.use(value, LoadUse.RETURNED)

    def on_called_unseen(self, callee: Value, arguments: Arguments, site: cst.Call) -> None:
        """What is made of something loaded may be what was loaded."""
        loaded = next(filter(None, (self.loaded_in(one.value) for one in arguments)), None)
        if loaded is not None:
            self.made[site] = loaded

    def loaded_in(self, value: Value) -> Checkpoint | None:
        """What was loaded, of what a value was made from."""
        match value:
            case Checkpoint():
                return value
            case Unknown(symbol=Step(site=site)):
                return self.made.get(site)
            case _:
                return None

    def begin(self, load: Load, reading: LoadedFile) -> None:
        """Remember what is loaded."""
        self.loads.setdefault(load.site, load)
        self.readings[load.site] = reading

    def is_new(self, site: Site) -> bool:
        """Remember from where something is loaded; whether nothing was loaded there yet.

        What was loaded on paths alone that a line before ends does not count.
        """
        self.entries.setdefault(site, set()).add(first_function(self.run))
        before = self.readings.get(site)
        return before is None or not (before.is_reached or self.run.state.failed)

    def ask(self, value: Checkpoint, key: Value | None) -> None:
        """Remember for which key something that was loaded is asked."""
        loading = self.loads.get(value.site)
        if loading is not None and isinstance(key, Const) and isinstance(key.value, str):
            file = replace(loading.file, keys=loading.file.keys | {key.value})
            self.loads[value.site] = replace(loading, file=file)

    def use(self, value: Checkpoint, use: LoadUse) -> None:
        """Remember what a loaded value is used as."""
        loading = self.loads.get(value.site)
        if loading is not None:
            self.loads[value.site] = replace(loading, uses=loading.uses | {use})

    def at_end(self) -> Iterator[Event]:
        """The checkpoints, on the machine on which loading them fails."""
        if self.run.world.accelerators:
            return
        for one in self.loads.values():
            if not is_excused(self.run, one.site, "torch.load()", self._excuses_of(one)):
                beside, read = frozenset(self.run.program.written), self.readings[one.site]
                entries = frozenset(self.entries[one.site])
                yield replace(
                    one, beside=beside, entries=entries, reader=read.reader, after=read.after
                )

    def _excuses_of(self, load: Load) -> tuple[ExcuseCase, ...]:
        """The excuses that the whole program may give for one load."""
        reading = self.readings[load.site]
        return (
            ExcuseCase(OFFLOADED, lambda *_: bool(self.offloading)),
            ExcuseCase(FOR_ACCELERATORS, lambda run, _: _needs_accelerators(run, reading)),
            ExcuseCase(NO_CHECKPOINT, lambda *_: load.uses <= {LoadUse.RANDOM_STATE}),
            ExcuseCase(CPU_FILE, lambda run, _: load.file.is_from_the_cpu(run.program.written)),
            ExcuseCase(CPU_PROGRAM, lambda run, _: not _may_leave_the_cpu(run, reading)),
            ExcuseCase(FAILS_BEFORE, lambda *_: not reading.is_reached),
        )


def _needs_accelerators(run: Run, reading: LoadedFile) -> bool:
    """Whether the program does: the part that reads, or those who import a file without devices."""
    if leaves_the_cpu(run):
        return is_for_accelerators(run, reading.part)
    return is_taken_around(run) and not is_left_open(run)


def _may_leave_the_cpu(run: Run, reading: LoadedFile) -> bool:
    """Whether what is read may be from an accelerator.

    Who names the file, in the settings or in a call, has devices of their own.
    """
    if reading.source is FileSource.CHOSEN or leaves_the_cpu(run):
        return True
    own = (one for one in run.program.written if reading.name is not None is not one.name)
    return any(one.is_from_elsewhere for one in own if ReadFile(reading.name).may_be(one))


@function(
    "torch.distributed.fsdp.FullStateDictConfig",
    "torch.distributed.fsdp.api.FullStateDictConfig",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullStateDictConfig",
)
def configure_state(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """How FSDP saves a model."""
    offload, notes = arguments.get(0, "offload_to_cpu"), run.find_hearer(Loads)
    if notes is not None and offload is not None and offload.value == TRUE:
        notes.offloading.add(site)
    return Unknown("how FSDP saves a model")
