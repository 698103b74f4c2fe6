"""What `torch.save` writes: from which devices, and under which name."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU, Device
from devicelint.domain.events import LoadUse
from devicelint.domain.values import (
    HOST,
    NONE,
    Batch,
    DictOf,
    ListOf,
    Module,
    OneOf,
    Placed,
    Tensor,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.facts.saved_files import note_saved, note_saved_model
from devicelint.interpreter.python.stdlib.paths import name_of
from devicelint.interpreter.torch.checkpoints.round_trips import keep_saved
from devicelint.interpreter.torch.checkpoints.uses import note_use


@function("torch.save")
def save(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`torch.save`: the file writes this path itself."""
    path, saved = arguments.get(1, "f"), arguments.get(0, "obj")
    if path is None:
        return NONE
    note_saved(run, path)
    if saved is not None:
        note_saved_model(run, path, saved.value)
        keep_saved(run, path, saved.value, site)
        _note_saved_again(run, saved.value)
        called = name_of(path.value)
        if called is not None:
            run.program.saved.setdefault(called, set()).add(_is_on_the_cpu(run, saved.value))
    return NONE


def _note_saved_again(run: Run, saved: Value, depth: int = 0) -> None:
    """What is loaded and then saved, whole or in parts, is a checkpoint that is converted."""
    if isinstance(saved, DictOf) and depth < _DEEPEST:
        for one in run.state.fields(saved.ref).values():
            _note_saved_again(run, one, depth + 1)
    note_use(run, saved, LoadUse.CHECKPOINT)


_DEEPEST = 3


def _is_on_the_cpu(run: Run, saved: Value) -> bool | None:
    """Whether all that is saved lies on the CPU; None where nothing of it is known."""
    devices = set(_devices_in(run, saved, set()))
    return devices == {CPU} if devices else None


def _devices_in(run: Run, value: Value, seen: set[object]) -> Iterator[Device]:
    """The devices of what is saved, and of what lies in it."""
    match value:
        case Tensor(device) | Batch(device) | Placed(device):
            yield device
        case Module():
            yield module_device(run, value).device
        case Tuple(items) | OneOf(items):
            for one in items:
                yield from _devices_in(run, one, seen)
        case DictOf(ref) | ListOf(ref) if ref not in seen:
            seen.add(ref)
            for one in run.state.fields(ref).values():
                yield from _devices_in(run, one, seen)
        case _:
            pass


@function("torch.jit.save")
def save_compiled(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`torch.jit.save(module, path)`."""
    return save(run, name, arguments, site)


_FETCHED_TO = {"urllib.request.urlretrieve": "filename", "torch.hub.download_url_to_file": "dst"}
"""Which argument of what fetches a file says where it goes."""


@function(*_FETCHED_TO)
def fetch(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What somebody has published is written to a file, from which it is loaded then."""
    path = arguments.get(1, _FETCHED_TO[name])
    if path is not None:
        note_saved(run, path)
    return NONE if path is None else Tuple((path.value, HOST))
