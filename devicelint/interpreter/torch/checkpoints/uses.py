"""What is loaded without map_location, and what it turns out to be used for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from devicelint.domain.events import Event, Load, LoadUse, Transfer
from devicelint.domain.history import Site
from devicelint.domain.values import (
    Checkpoint,
    Const,
    Value,
)
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.intended_machines import provides_for_the_cpu
from devicelint.interpreter.facts.mentions import mentions_in
from devicelint.interpreter.facts.saved_files import (
    is_written_here,
    stays_on_the_cpu,
)
from devicelint.interpreter.torch.operations.excuses import (
    CPU_FILE,
    FOR_ACCELERATORS,
    NO_CHECKPOINT,
    OFFLOADED,
    ExcuseCase,
)
from devicelint.interpreter.torch.operations.verdicts import is_excused

CHECKPOINT_KEYS = frozenset(
    "model model_state model_state_dict state_dict net optimizer optimizer_state_dict ema "
    "generator discriminator encoder decoder scheduler params weights "
    "epoch best_acc best_acc1".split()
)
"""Keys under which training scripts keep weights and progress."""


def note_key(run: Run, value: Checkpoint, key: Value | None) -> None:
    """A key that is taken out of what was loaded may show that it is a checkpoint."""
    if isinstance(key, Const) and key.value in CHECKPOINT_KEYS:
        note_use(run, value, LoadUse.CHECKPOINT)


def note_use(run: Run, value: Checkpoint, use: LoadUse) -> None:
    """Remember what a loaded value is used as."""
    notes = run.find_hearer(Loads)
    if notes is not None:
        notes.use(value, use)


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
        self.moved: dict[Site, Checkpoint] = {}
        """What was loaded, by the transfer that moved it."""

    def on_transfer(self, transfer: Transfer) -> None:
        """Remember what is moved of what was loaded."""
        if isinstance(transfer.receiver, Checkpoint):
            self.moved[transfer.site] = transfer.receiver

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
            if not is_excused(self.run, one.site, "torch.load()", (), _at_the_end(one)):
                yield one


def _at_the_end(load: Load) -> tuple[ExcuseCase, ...]:
    """The excuses that the whole program may give for one load."""
    return (
        ExcuseCase(OFFLOADED, lambda run, _: _offloads(run)),
        ExcuseCase(FOR_ACCELERATORS, lambda run, _: _is_for_accelerators(run)),
        ExcuseCase(NO_CHECKPOINT, lambda *_: load.uses <= {LoadUse.RANDOM_STATE}),
        ExcuseCase(CPU_FILE, lambda run, _: _is_saved_on_the_cpu(run, load)),
    )


def _is_saved_on_the_cpu(run: Run, load: Load) -> bool:
    return is_written_here(run, load.path) and stays_on_the_cpu(run)


def _is_for_accelerators(run: Run) -> bool:
    return run.demands_accelerator and not provides_for_the_cpu(run.module)


def _offloads(run: Run) -> bool:
    """Whether FSDP saves a full state dict from the CPU here, wherever the model is."""
    return "True" in mentions_in(run.module).keywords.get("offload_to_cpu", ())
