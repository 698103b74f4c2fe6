"""Checkpoints: `torch.load` without map_location, what it is used for, and the device at hand."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.checkpoints import ReadFile
from devicelint.domain.devices import Known
from devicelint.domain.events import Load, LoadUse
from devicelint.domain.values import (
    NONE,
    Checkpoint,
    FileSource,
    Function,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    function,
)
from devicelint.interpreter.facts.file_sources import source_of
from devicelint.interpreter.facts.host_callers import is_reached_from_tests
from devicelint.interpreter.facts.named_devices import devices_at_hand
from devicelint.interpreter.facts.saved_files import (
    is_of_this_run,
    saved_model,
)
from devicelint.interpreter.torch.checkpoints.receivers import lacks_wrapper
from devicelint.interpreter.torch.checkpoints.round_trips import (
    is_in_memory,
    loaded_again,
)
from devicelint.interpreter.torch.checkpoints.uses import (
    LoadedFile,
    Loads,
    note_use,
)
from devicelint.interpreter.torch.devices.arguments import demand, device_named
from devicelint.interpreter.torch.operations.excuses import (
    FAILS_BEFORE,
    LOAD,
    OWN_FILE,
    PROGRAM_FILE,
    PUBLISHED_FILE,
    TEST_FILE,
    ExcuseCase,
)
from devicelint.interpreter.torch.operations.verdicts import is_excused

MAP_LOCATION = {
    "torch.load": 1,
    "torch.jit.load": 1,
    "torch.hub.load_state_dict_from_url": 2,
    "torch.utils.model_zoo.load_url": 2,
}
"""Where each function that loads takes map_location."""
_FROM_A_PATH = ("torch.load", "torch.jit.load")
"""Those that are given a path; the others are given a URL."""


@function(*MAP_LOCATION)
def load(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Without map_location, tensors come back where they were saved."""
    given = arguments.get(MAP_LOCATION[name], "map_location")
    path = arguments.get(0, "f")
    if path is not None and isinstance(path.value, Checkpoint):
        note_use(run, path.value, LoadUse.CHECKPOINT)
    known = loaded_again(run, path, given, site)
    if given is not None and given.value != NONE:
        _demand(run, given, site)
        return known or Unknown("loaded to where map_location says")
    if arguments.open:
        return Unknown("loaded to where map_location says")
    if known is not None and is_in_memory(path):
        return known
    reason = _reason_to_fit(run, name, path, site)
    run.steps.loaded(site, fits=reason is not None)
    if reason is None:
        run.depends_on_machine = True
        return _loaded_where_saved(run, name, path, site)
    model = saved_model(run, path) if path is not None and reason == _OWN else None
    return model or (known if reason == _OWN else None) or Unknown(reason)


_OWN = "loaded to where this very run saved it from"


def _reason_to_fit(run: Run, name: str, path: Argument | None, site: cst.Call) -> str | None:
    """Why what is loaded fits the machine, whichever it is; None where it may be another's."""
    excuses = (
        (LOAD, "loaded where an accelerator is chosen"),
        (_of_its_line(site), "loaded by a line that raises before"),
        (_of_its_path(name, path), "loaded from a file that fits every machine"),
        (_of_its_file(path), _OWN),
    )
    for cases, reason in excuses:
        if is_excused(run, site, f"{name}()", cases, is_last=False):
            return reason
    return None


def _loaded_where_saved(run: Run, name: str, path: Argument | None, site: cst.Call) -> Checkpoint:
    notes = run.find_hearer(Loads)
    if notes is not None and notes.is_new(site):
        reading = LoadedFile.of(run, path)
        load = Load(site, MAP_LOCATION[name], _device_at_hand(run), ReadFile(reading.name))
        notes.begin(load, reading)
    return Checkpoint(site)


def _of_its_line(site: cst.Call) -> tuple[ExcuseCase, ...]:
    """The excuse that what Python evaluates before the load may give."""

    def raises(run: Run, _: object) -> bool:
        return not run.world.accelerators and lacks_wrapper(run, site)

    return (ExcuseCase(FAILS_BEFORE, raises),)


def _of_its_path(name: str, path: Argument | None) -> tuple[ExcuseCase, ...]:
    """The excuses that the way to the file gives: who has written what lies there."""
    source = None if path is None else source_of(path.value)
    if name not in _FROM_A_PATH:
        source = FileSource.PUBLISHED
    return (
        ExcuseCase(PUBLISHED_FILE, lambda *_: source is FileSource.PUBLISHED),
        ExcuseCase(PROGRAM_FILE, lambda *_: source is FileSource.PROGRAM),
        ExcuseCase(OWN_FILE, lambda *_: source is FileSource.RUN),
        ExcuseCase(TEST_FILE, lambda run, _: is_reached_from_tests(run)),
    )


def _of_its_file(path: Argument | None) -> tuple[ExcuseCase, ...]:
    """The excuses that the file which is loaded may give."""
    if path is None:
        return ()
    return (ExcuseCase(OWN_FILE, lambda run, _: is_of_this_run(run, path)),)


def _demand(run: Run, given: Argument, site: cst.Call) -> None:
    """A checkpoint cannot be loaded to a device that is not there.

    A function gets storages, which torch moves by rules of their own.
    """
    if isinstance(given.value, Function):
        run.entered.add(given.value.node)
    device = device_named(run, given)
    if device is not None:
        demand(run, given, device, site, "map_location=")


def _device_at_hand(run: Run) -> str | None:
    """What holds a device here and now: nothing that is bound later can be meant."""
    if run.state.read(run.frame.ref, "map_location") is not None:
        return "map_location"
    found = next(devices_at_hand(run, run.frame, Known("cuda")), None)
    return None if found is None else found.code
