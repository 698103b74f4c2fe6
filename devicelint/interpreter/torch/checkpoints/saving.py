"""What `torch.save` writes: from which devices, and under which name."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.events import LoadUse
from devicelint.domain.values import (
    HOST,
    NONE,
    DictOf,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.facts.saved_files import note_saved, note_saved_model
from devicelint.interpreter.torch.checkpoints.round_trips import keep_saved
from devicelint.interpreter.torch.checkpoints.uses import note_use
from devicelint.interpreter.torch.checkpoints.written import note_written


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
        note_written(run, path.value, saved.value)
    return NONE


def _note_saved_again(run: Run, saved: Value, depth: int = 0) -> None:
    """What is loaded and then saved, whole or in parts, is a checkpoint that is converted."""
    if isinstance(saved, DictOf) and depth < _DEEPEST:
        for one in run.state.fields(saved.ref).values():
            _note_saved_again(run, one, depth + 1)
    note_use(run, saved, LoadUse.CHECKPOINT)


_DEEPEST = 3


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
