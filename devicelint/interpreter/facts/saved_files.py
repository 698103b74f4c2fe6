"""Files of checkpoints: which of them this very run has written, and which are the code's own."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import libcst as cst

from devicelint.domain.devices import Device
from devicelint.domain.history import Site
from devicelint.domain.values import Const, Module, OneOf, Symbolic, Value
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.facts.name_uses import last_name


class Saved(NamedTuple):
    """A file that was written: where the walk began that did, and under which settings."""

    path: object
    entry: Site
    settings: frozenset[str]


class SavedFiles(Notes):
    """The files of checkpoints that were written."""

    def __init__(self) -> None:
        self.files: set[Saved] = set()
        self.models: dict[object, tuple[Value, frozenset[Device]]] = {}
        """The models that were written whole, by their file, and where they were."""


def identity_of(run: Run, path: Argument) -> object:
    """What makes two paths the same: their value where it is known, else how they are written.

    What is written in the same way is the same in one function, or as an attribute of `self`; a
    template is, whatever is put into it.
    """
    is_template = isinstance(path.site, cst.CSTNode) and _template(path.site) is not path.site
    match path.value:
        case Const(value) if not is_template:
            return value
        case Symbolic(origin):
            return ("setting", origin)
        case _ if isinstance(path.site, cst.CSTNode):
            code = " ".join(run.code_of(_template(path.site)).split())
            return code if code.startswith("self.") else (code, run.frame.node)
        case _:
            return path.site


def _template(path: cst.CSTNode) -> cst.CSTNode:
    """Of `"epoch-%d.pt" % epoch`, the string."""
    match path:
        case cst.BinaryOperation(left=cst.SimpleString(), operator=cst.Modulo()):
            return path.left
        case _:
            return path


def note_saved(run: Run, path: Argument) -> None:
    """Remember a file that is written here."""
    run.notes(SavedFiles).files.add(
        Saved(identity_of(run, path), _entry(run), frozenset(run.settings))
    )


def note_saved_model(run: Run, path: Argument, model: Value) -> None:
    """Remember a model that is written whole, and where it is as that happens."""
    places = _places(run, model)
    if places is not None:
        run.notes(SavedFiles).models[identity_of(run, path)] = (model, places)


def saved_model(run: Run, path: Argument) -> Value | None:
    """The model that a file holds, as far as nothing has moved it since it was written."""
    model, places = run.notes(SavedFiles).models.get(identity_of(run, path), (None, None))
    return model if model is not None and _places(run, model) == places else None


def _places(run: Run, model: Value) -> frozenset[Device] | None:
    """Where a model is, or each of those that it may be; None for what is no model."""
    options = model.options if isinstance(model, OneOf) else (model,)
    modules = [one for one in options if isinstance(one, Module)]
    if len(modules) != len(options):
        return None
    return frozenset(module_device(run, one).device for one in modules)


def is_of_this_run(run: Run, path: Argument) -> bool:
    """Whether a file has been written on the way here, whatever the settings are.

    Under a setting that has nothing to do with the writing, the reading may be all that a run
    does.
    """
    path_here, entry, settings = identity_of(run, path), _entry(run), frozenset(run.settings)
    return any(
        one.path == path_here
        and one.entry is entry
        and (one.settings <= settings or (settings and settings <= one.settings))
        for one in run.notes(SavedFiles).files
    )


_ASKS_FOR_A_FILE = frozenset({"exists", "lexists", "isfile", "is_file"})


@contextmanager
def asking_for_files(run: Run, test: cst.BaseExpression) -> Iterator[None]:
    """Walk what depends on files that are there: such a file may be of another run."""
    before = len(run.settings)
    if _asks_for_a_file(test):
        run.settings.append(run.code_of(test))
    try:
        yield
    finally:
        del run.settings[before:]


@functools.lru_cache(maxsize=1_000)
def _asks_for_a_file(test: cst.BaseExpression) -> bool:
    calls = (one for one in descendants(test) if isinstance(one, cst.Call))
    return any(last_name(one.func) in _ASKS_FOR_A_FILE for one in calls)


def _entry(run: Run) -> Site:
    """Where the walk began that led here: the file, or a function that nothing calls."""
    frame: Frame = run.frame
    while frame.caller is not None and frame.site is not None:
        frame = frame.caller
    return frame.node
