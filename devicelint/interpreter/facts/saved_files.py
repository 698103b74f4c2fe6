"""Files of checkpoints: which of them this very run has written, and which are the code's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple

import libcst as cst

from devicelint.domain.devices import Device
from devicelint.domain.history import Site
from devicelint.domain.values import Const, HostValue, Module, OneOf, Symbolic, Value
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import cached_of_nodes, descendants
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.facts.name_uses import last_name


class Saved(NamedTuple):
    """A file that was written: where the walk began that did, and under which settings."""

    path: object
    entry: Site
    settings: frozenset[str]
    spelling: object = None
    """How the path is spelled, and which settings are put into it, where its last part is."""


class SavedFiles(Notes):
    """The files of checkpoints that were written."""

    def __init__(self) -> None:
        self.files: set[Saved] = set()
        self.models: dict[object, tuple[Value, frozenset[Device]]] = {}
        """The models that were written whole, by their file, and where they were."""


def identity_of(run: Run, path: Argument) -> object:
    """What makes two paths the same: their value where it is known, else how they are written.

    What is written in the same way is the same in one function, or as an attribute of `self`; a
    template is, whatever number is put into it.
    """
    template = _template(run, path.site) if isinstance(path.site, cst.CSTNode) else None
    match path.value:
        case Const(value) if template is None:
            return value
        case Symbolic(origin):
            return ("setting", origin)
        case _ if isinstance(path.site, cst.CSTNode):
            code = template or " ".join(run.code_of(path.site).split())
            return code if code.startswith("self.") else (code, run.frame.node)
        case _:
            return path.site


def _template(run: Run, path: cst.CSTNode) -> str | None:
    """The text of `"epoch-%d.pt" % epoch`, `"{}.pt".format(epoch)` and `f"{epoch}.pt"`."""
    match path:
        case cst.BinaryOperation(left=cst.SimpleString(value=text), operator=cst.Modulo()):
            return text
        case cst.Call(
            func=cst.Attribute(value=cst.SimpleString(value=text), attr=cst.Name("format")),
            args=given,
        ):
            return text if all(_is_of_the_run(run, one.value) for one in given) else None
        case cst.FormattedString(parts=parts):
            put = [one for one in parts if isinstance(one, cst.FormattedStringExpression)]
            is_template = put and all(_is_of_the_run(run, one.expression) for one in put)
            return "".join(map(_text_of, parts)) if is_template else None
        case _:
            return None


def _is_of_the_run(run: Run, part: cst.BaseExpression) -> bool:
    """Whether a program counts or makes up what it puts into a name, and nobody chooses it."""
    with run.muted():
        value = run.evaluate(part)
    is_number = isinstance(value, Const) and not isinstance(value.value, str)
    return is_number or (isinstance(value, HostValue) and value.source is None)


def _text_of(part: cst.BaseFormattedStringContent) -> str:
    return part.value if isinstance(part, cst.FormattedStringText) else "{}"


def _spelling_of(value: Value) -> tuple[str, frozenset[str]] | None:
    """A path whose last part the code spells, and which settings are put into its folders."""
    if not isinstance(value, HostValue) or value.name is None:
        return None
    last = value.name.rpartition("/")[2]
    return (value.name, value.given) if last and "*" not in last else None


def note_saved(run: Run, path: Argument) -> None:
    """Remember a file that is written here."""
    settings, spelling = frozenset(run.settings), _spelling_of(path.value)
    saved = Saved(identity_of(run, path), beginning_of(run), settings, spelling)
    run.notes(SavedFiles).files.add(saved)


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
    path_here, entry, settings = identity_of(run, path), beginning_of(run), frozenset(run.settings)
    spelling = _spelling_of(path.value)
    return any(
        (one.path == path_here or (spelling is not None and one.spelling == spelling))
        and one.entry is entry
        and (one.settings <= settings or (settings and settings <= one.settings))
        for one in run.notes(SavedFiles).files
    )


_ASKS_FOR_A_FILE = frozenset({"exists", "lexists", "isfile", "is_file"})


def asking_for_files(run: Run, test: cst.BaseExpression) -> AbstractContextManager[None]:
    """Walk what depends on files that are there: such a file may be of another run."""
    return _asking(run, run.code_of(test)) if _asks_for_a_file(test) else nullcontext()


@contextmanager
def _asking(run: Run, question: str) -> Iterator[None]:
    before = len(run.settings)
    run.settings.append(question)
    try:
        yield
    finally:
        del run.settings[before:]


@cached_of_nodes(10_000)
def _asks_for_a_file(test: cst.BaseExpression) -> bool:
    calls = (one for one in descendants(test) if isinstance(one, cst.Call))
    return any(last_name(one.func) in _ASKS_FOR_A_FILE for one in calls)


def beginning_of(run: Run) -> Site:
    """Where the walk began that led here: the file, or a function that nothing calls."""
    frame: Frame = run.frame
    while frame.caller is not None and frame.site is not None:
        frame = frame.caller
    return frame.node
