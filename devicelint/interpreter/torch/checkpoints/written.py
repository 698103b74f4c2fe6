"""What a file holds that is saved: where its tensors lie, and under which keys."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.checkpoints import WrittenFile
from devicelint.domain.devices import CPU, Device
from devicelint.domain.history import Site, Verb
from devicelint.domain.values import (
    Batch,
    Checkpoint,
    Const,
    DictOf,
    ListOf,
    Module,
    OneOf,
    Placed,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.engine.tables import sets_item
from devicelint.interpreter.python.containers.fields import ELEMENT
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.python.stdlib.paths import name_of

_STATE = "state_dict"


class BroughtBack(Notes):
    """The states of models that are not seen whose items were replaced by some on the CPU."""

    def __init__(self) -> None:
        self.made: set[Site] = set()
        """The calls that gave them."""


def note_written(run: Run, path: Value, saved: Value) -> None:
    """Remember a file that is saved, if tensors are in it.

    What was loaded and is saved again comes from wherever that was saved.
    """
    parts = tuple(_parts_of(run, saved, set()))
    if any(isinstance(one, Checkpoint) for one in parts):
        return
    places = frozenset(place for one in parts for place in _places_of(run, one))
    if places:
        keys, is_brought = _keys_of(run, saved), _is_brought(run, saved)
        run.program.written.add(WrittenFile(name_of(path), places, keys, is_brought))


def _parts_of(run: Run, value: Value, seen: set[object]) -> Iterator[Value]:
    """What is saved, or all that lies in it."""
    match value:
        case Tuple(items) | OneOf(items):
            for one in items:
                yield from _parts_of(run, one, seen)
        case DictOf(ref) | ListOf(ref):
            held = () if ref in seen else tuple(run.state.fields(ref).values())
            seen.add(ref)
            for one in held:
                yield from _parts_of(run, one, seen)
        case _:
            yield value


def _places_of(run: Run, value: Value) -> Iterator[Device | None]:
    """Where it lies, if it is tensors; None where that is not seen."""
    match value:
        case Tensor(device) | Batch(device) | Placed(device):
            yield device
        case Module():
            yield module_device(run, value).device
        case Unknown() if (made := _state_of_unseen(value)) is not None:
            yield CPU if made in run.notes(BroughtBack).made else None
        case _:
            pass


def _is_brought(run: Run, saved: Value, depth: int = 0) -> bool:
    """Whether models are in it, as states or whole, that the code moves to the CPU before."""
    match saved:
        case Module():
            return _is_moved(module_device(run, saved))
        case Placed():
            return _is_moved(saved)
        case Unknown():
            return _state_of_unseen(saved) in run.notes(BroughtBack).made
        case DictOf(ref, site):
            held = tuple(run.state.fields(ref).values())
            if _is_call_of_state(site):
                return any(_is_moved(one) for one in held)
            return depth < _DEEPEST and any(_is_brought(run, one, depth + 1) for one in held)
        case _:
            return False


_DEEPEST = 3


def _is_moved(value: Value) -> bool:
    if not isinstance(value, (Tensor, Placed)):
        return False
    return value.device == CPU and value.since.verb is Verb.MOVED


def _state_of_unseen(value: Unknown) -> cst.Call | None:
    """The call of `state_dict()` that has given something, whosever state it is."""
    made = None if value.symbol is None else value.symbol.site
    return made if isinstance(made, cst.Call) and _is_call_of_state(made) else None


def _is_call_of_state(site: Site) -> bool:
    match site:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name == _STATE
        case _:
            return False


def _keys_of(run: Run, saved: Value) -> frozenset[str] | None:
    """The keys of a dictionary that is written out: no other can be in it."""
    if isinstance(saved, Unknown) and _state_of_unseen(saved) is not None:
        return frozenset()
    if not isinstance(saved, DictOf):
        return None
    fields = [name for name in run.state.fields(saved.ref) if not name.startswith("@")]
    if run.state.read(saved.ref, ELEMENT) is not None:
        return None
    return frozenset(name.strip("[]'") for name in fields)


@sets_item(Unknown)
def _set_in_unknown(
    run: Run, owner: Unknown, value: Value, target: cst.Subscript, site: cst.BaseExpression
) -> None:
    """`state[name] = parameter.cpu()`, under each of the names."""
    key, made = key_of(run, target), _state_of_unseen(owner)
    is_on_cpu = isinstance(value, (Tensor, Batch, Placed)) and value.device == CPU
    if made is not None and is_on_cpu and not isinstance(key, Const):
        run.notes(BroughtBack).made.add(made)
