"""Checkpoints: `torch.load` without map_location, what it is used for, and the device at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import Known, may_be_accelerator
from devicelint.domain.events import Event, Load, LoadUse, Transfer
from devicelint.domain.history import Site
from devicelint.domain.values import (
    NONE,
    Batch,
    Checkpoint,
    Const,
    Dataset,
    DictOf,
    FileSource,
    Function,
    Loader,
    NotMovable,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    attributes,
    calls,
    elements,
    function,
    items,
    method_of_anything,
    methods,
)
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.facts.intended_machines import provides_for_the_cpu
from devicelint.interpreter.facts.mentions import mentions_in
from devicelint.interpreter.facts.named_devices import devices_at_hand
from devicelint.interpreter.facts.saved_files import (
    identity_of,
    is_in_function,
    is_named_by_code,
    is_of_this_run,
    is_written_here,
    note_saved,
    note_saved_model,
    saved_model,
    stays_on_the_cpu,
)
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.python.stdlib.paths import source_of
from devicelint.interpreter.torch.devices.arguments import demand, device_named
from devicelint.interpreter.torch.operations.excuses import (
    CPU_FILE,
    FOR_ACCELERATORS,
    LOAD,
    NO_CHECKPOINT,
    OFFLOADED,
    OWN_FILE,
    PROGRAM_FILE,
    PUBLISHED_FILE,
    ExcuseCase,
)
from devicelint.interpreter.torch.operations.verdicts import is_excused
from devicelint.interpreter.torch.optimizers import OPTIMIZER
from devicelint.interpreter.torch.transfers import move_unknown

MAP_LOCATION = {
    "torch.load": 1,
    "torch.hub.load_state_dict_from_url": 2,
    "torch.utils.model_zoo.load_url": 2,
}
"""Where each function that loads takes map_location."""

CHECKPOINT_KEYS = frozenset(
    "model model_state model_state_dict state_dict net optimizer optimizer_state_dict ema "
    "generator discriminator encoder decoder scheduler params weights "
    "epoch best_acc best_acc1".split()
)
"""Keys under which training scripts keep weights and progress."""


@function(*MAP_LOCATION)
def load(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Without map_location, tensors come back where they were saved."""
    given = arguments.get(MAP_LOCATION[name], "map_location")
    path = arguments.get(0, "f")
    if path is not None and isinstance(path.value, Checkpoint):
        note_use(run, path.value, LoadUse.CHECKPOINT)
    if given is not None and given.value != NONE:
        _demand(run, given, site)
        return Unknown("loaded to where map_location says")
    if arguments.open:
        return Unknown("loaded to where map_location says")
    if is_excused(run, site, f"{name}()", (), LOAD, is_last=False):
        return Unknown("loaded where an accelerator is chosen")
    if is_excused(run, site, f"{name}()", (), _of_its_path(name, path), is_last=False):
        return Unknown("loaded from a file that fits every machine")
    if is_excused(run, site, f"{name}()", (), _of_its_file(path), is_last=False):
        assert path is not None
        model = saved_model(run, path)
        if model is not None:
            return model
        return Unknown("loaded to where this very run saved it from")
    run.depends_on_machine = True
    return _loaded_where_saved(run, name, path, site)


def _loaded_where_saved(run: Run, name: str, path: Argument | None, site: cst.Call) -> Checkpoint:
    notes = run.find_hearer(Loads)
    if notes is not None and site not in notes.loads:
        identity = None if path is None else identity_of(run, path)
        notes.loads[site] = Load(site, MAP_LOCATION[name], _device_at_hand(run), identity)
    return Checkpoint(site)


def _of_its_path(name: str, path: Argument | None) -> tuple[ExcuseCase, ...]:
    """The excuses that the way to the file gives: who has written what lies there."""
    source = None if path is None else source_of(path.value)
    if name != "torch.load":
        source = FileSource.PUBLISHED
    return (
        ExcuseCase(PUBLISHED_FILE, lambda *_: source is FileSource.PUBLISHED),
        ExcuseCase(PROGRAM_FILE, lambda *_: source is FileSource.PROGRAM),
        ExcuseCase(OWN_FILE, lambda *_: source is FileSource.RUN),
    )


def _of_its_file(path: Argument | None) -> tuple[ExcuseCase, ...]:
    """The excuses that the file which is loaded may give."""
    if path is None:
        return ()
    return (
        ExcuseCase(OWN_FILE, lambda run, _: is_of_this_run(run, path)),
        ExcuseCase(CPU_FILE, lambda run, _: _is_of_the_cpu(run, path)),
    )


def _is_of_the_cpu(run: Run, path: Argument) -> bool:
    """Whether code that knows the CPU alone loads what belongs to it: a file that it names itself.

    A script's own file may come from another machine.
    """
    named = stays_on_the_cpu(run) and is_named_by_code(run, path)
    return named and is_in_function(run)


def _demand(run: Run, given: Argument, site: cst.Call) -> None:
    """A checkpoint cannot be loaded to a device that is not there.

    A function gets storages, which torch moves by rules of their own.
    """
    if isinstance(given.value, Function):
        run.entered.add(given.value.node)
    device = device_named(run, given)
    if device is not None:
        demand(run, given, device, site, "map_location=")


@function("torch.save")
def save(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`torch.save`: the file writes this path itself."""
    path, saved = arguments.get(1, "f"), arguments.get(0, "obj")
    if path is not None:
        note_saved(run, path)
    if path is not None and saved is not None:
        note_saved_model(run, path, saved.value)
    return NONE


@method_of_anything("load_state_dict")
def _note_weights(run: Run, node: cst.Call, arguments: Arguments) -> None:
    """`model.load_state_dict(loaded)` shows that it holds weights; a scheduler has none."""
    if not _may_hold_tensors(_receiver(run, node)):
        return
    for argument in arguments:
        value = argument.value
        if isinstance(value, DictOf):
            fields = run.state.fields(value.ref)
            value = next((one for one in fields.values() if isinstance(one, Checkpoint)), value)
        if isinstance(value, Checkpoint):
            note_use(run, value, LoadUse.WEIGHTS)


def _may_hold_tensors(value: Value | None) -> bool:
    """Whether the state of something may be tensors: that of a scheduler or a loader is numbers."""
    match value:
        case NotMovable(kind):
            return kind == OPTIMIZER
        case Loader() | Dataset():
            return False
        case _:
            return True


def _receiver(run: Run, node: cst.Call) -> Value | None:
    """The value whose method a call is of."""
    if not isinstance(node.func, cst.Attribute):
        return None
    with run.muted():
        return run.evaluate(node.func.value)


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


def _device_at_hand(run: Run) -> str | None:
    """What holds a device here and now: nothing that is bound later can be meant."""
    if run.state.read(run.frame.ref, "map_location") is not None:
        return "map_location"
    found = next(devices_at_hand(run, run.frame, Known("cuda")), None)
    return None if found is None else found.code


@attributes(Checkpoint)
def of_loaded(run: Run, value: Checkpoint, name: str, node: cst.Attribute) -> Value:
    return value


@methods(Checkpoint)
def method_of_loaded(run: Run, receiver: Checkpoint, name: str, node: cst.Call) -> Value:
    if name in MOVES:
        return move_unknown(run, receiver, name, node)
    arguments = arguments_of(run, node)
    if name in _SHOWS_MODEL:
        note_use(run, receiver, LoadUse.MODEL)
    if name in ("get", "pop") and arguments.positional:
        note_key(run, receiver, arguments.positional[0].value)
    kept = name in ("get", "pop", "eval", "train", "float", "half", "items", "values", "copy")
    return receiver if kept else Unknown(f"a method of something loaded: {name}")


_SHOWS_MODEL = frozenset({"eval", "parameters", "named_parameters", "state_dict", "train"})


@calls(Checkpoint)
def call_loaded(run: Run, callee: Checkpoint, arguments: Arguments, site: cst.Call) -> Value:
    """A model: it answers where what it is given is, as they have to lie together."""
    note_use(run, callee, LoadUse.MODEL)
    value = arguments.positional[0].value if arguments.positional else None
    if isinstance(value, (Tensor, Batch)) and may_be_accelerator(value.device):
        return Batch(value.device, value.since)
    return Unknown("calling something loaded")


@elements(Checkpoint)
def _element_of_loaded(run: Run, value: Checkpoint, site: Site) -> Value:
    return value


@items(Checkpoint)
def _item_of_loaded(run: Run, value: Checkpoint, node: cst.Subscript) -> Value:
    note_key(run, value, key_of(run, node))
    return value
