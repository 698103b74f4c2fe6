"""What was loaded, as a value: its attributes, methods, items and calls."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import may_be_accelerator
from devicelint.domain.events import LoadUse
from devicelint.domain.history import Site
from devicelint.domain.values import (
    Batch,
    Checkpoint,
    Const,
    Dataset,
    DictOf,
    HostValue,
    ListOf,
    Loader,
    NotMovable,
    OneOf,
    Placed,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    attributes,
    calls,
    elements,
    items,
    method_of_anything,
    methods,
)
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.facts.name_uses import reads_of
from devicelint.interpreter.facts.tensor_api import is_of_no_tensor
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.fields import ELEMENT
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.torch.checkpoints.uses import note_asked, note_use
from devicelint.interpreter.torch.optimizers import OPTIMIZER
from devicelint.interpreter.torch.transfers import move_unknown


@method_of_anything("copy_")
def _note_copied(run: Run, node: cst.Call, arguments: Arguments) -> None:
    """`parameter.copy_(loaded[name])` fills a model, wherever it is."""
    for argument in arguments:
        note_use(run, argument.value, LoadUse.WEIGHTS)


@method_of_anything("load_state_dict")
def _note_weights(run: Run, node: cst.Call, arguments: Arguments) -> None:
    """`model.load_state_dict(loaded)` shows that it holds weights; a scheduler has none."""
    if not _may_hold_tensors(_receiver(run, node)) or _is_asked_for_rates(run, node):
        return
    for argument in arguments:
        value = argument.value
        if isinstance(value, DictOf):
            fields = run.state.fields(value.ref)
            value = next((one for one in fields.values() if isinstance(one, Checkpoint)), value)
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


_RATES = ("get_last_lr", "get_lr")


def _is_asked_for_rates(run: Run, node: cst.Call) -> bool:
    """Whether the file asks what is filled for learning rates: it is a scheduler, whoever made it.

    Optimizers have none of these methods.
    """
    if not isinstance(node.func, cst.Attribute) or not run.frame.is_checked:
        return False
    reads = reads_of(run.program.tree)
    asked = [one.value for name in _RATES for one in reads.attributes.get(name, ())]
    filled = run.code_of(node.func.value) if asked else ""
    return any(run.code_of(one) == filled for one in asked)


def _receiver(run: Run, node: cst.Call) -> Value | None:
    """The value whose method a call is of."""
    if not isinstance(node.func, cst.Attribute):
        return None
    with run.muted():
        return run.evaluate(node.func.value)


@attributes(Checkpoint)
def of_loaded(run: Run, value: Checkpoint, name: str, node: cst.Attribute) -> Value:
    return value


@methods(Checkpoint)
def method_of_loaded(run: Run, receiver: Checkpoint, name: str, node: cst.Call) -> Value:
    if name in MOVES:
        return move_unknown(run, receiver, name, node)
    arguments = arguments_of(run, node)
    if name in _SHOWS_MODEL or _computes(name, arguments):
        note_use(run, receiver, LoadUse.MODEL)
    if name in ("get", "pop") and arguments.positional:
        note_asked(run, receiver, arguments.positional[0].value)
    kept = name in ("get", "pop", "eval", "train", "float", "half", "items", "values", "copy")
    return receiver if kept else Unknown(f"a method of something loaded: {name}")


def _computes(name: str, arguments: Arguments) -> bool:
    """Whether an object of a class of its own is given tensors: it was loaded whole."""
    is_own = is_of_no_tensor(name) and not hasattr(dict, name) and not hasattr(list, name)
    return is_own and any(isinstance(one.value, (Tensor, Batch, Placed)) for one in arguments)


_SHOWS_MODEL = frozenset({"eval", "parameters", "named_parameters", "state_dict", "train"})


@calls(Checkpoint)
def call_loaded(run: Run, callee: Checkpoint, arguments: Arguments, site: cst.Call) -> Value:
    """A model: it answers where what it is given is, as they have to lie together.

    What is asked for text alone may be a vocabulary, which holds no tensors.
    """
    if not _is_text(run, arguments):
        note_use(run, callee, LoadUse.MODEL)
    value = arguments.positional[0].value if arguments.positional else None
    if isinstance(value, (Tensor, Batch)) and may_be_accelerator(value.device):
        return Batch(value.device, value.since)
    return Unknown("calling something loaded")


def _is_text(run: Run, arguments: Arguments) -> bool:
    """Whether something is called with texts, and with nothing else."""
    given = [one.value for one in arguments]
    return bool(given) and all(_holds_text(run, one) for one in given)


def _holds_text(run: Run, value: Value) -> bool:
    match value:
        case Const(str()) | HostValue():
            return True
        case ListOf(ref):
            held = run.state.read(ref, ELEMENT)
            return held is not None and _holds_text(run, held)
        case OneOf(options):
            return all(_holds_text(run, one) for one in options)
        case _:
            return False


@elements(Checkpoint)
def _element_of_loaded(run: Run, value: Checkpoint, site: Site) -> Value:
    return value


@items(Checkpoint)
def _item_of_loaded(run: Run, value: Checkpoint, node: cst.Subscript) -> Value:
    note_asked(run, value, key_of(run, node))
    return value
