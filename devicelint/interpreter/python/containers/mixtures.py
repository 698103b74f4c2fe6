"""Lists into which tensors of two devices are put: which ones, and on which paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from itertools import combinations, product

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Unsure
from devicelint.domain.values import ListOf, Path, Ref, Symbolic, Tensor, Unknown, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.python.containers.contents import known_elements
from devicelint.interpreter.python.paths.questions import is_asked_anew

_PUT = "@put on "
"""How the fields of a list begin that hold what was put into it last, one for each device."""


class Puts(Notes):
    """On which paths a list was given tensors of a device.

    In a loop, each turn may take another path: what it asks about what it has bound tells nothing.
    """

    def __init__(self) -> None:
        self.paths: defaultdict[tuple[Ref, Device], set[Path]] = defaultdict(set)

    def fork(self) -> Puts:
        """What a path does is done wherever the walk goes on from."""
        return self


def note_put(run: Run, owner: ListOf, value: Value, call: cst.Call) -> None:
    """Remember a tensor that is about to be put into a list, beside those of other devices."""
    fields = run.state.fields(owner.ref)
    if not any(name.startswith(_PUT) for name in fields):
        for one in known_elements(run, owner) or ():
            _note(run, owner.ref, one, frozenset())
    if _device_of(value) is None:
        return
    begun = _begun(run, call.func)
    path = frozenset(
        (question, answer)
        for question, answer in run.state.facts.items()
        if begun is None or not is_asked_anew(run, question, begun)
    )
    _note(run, owner.ref, value, path)


def _note(run: Run, ref: Ref, value: Value, path: Path) -> None:
    device = _device_of(value)
    if device is not None:
        run.state.write(ref, f"{_PUT}{device}", value)
        run.notes(Puts).paths[ref, device].add(path)


def _device_of(value: Value) -> Device | None:
    """Where a tensor, or what the caller gave, is known to lie."""
    match value:
        case Tensor(device) if not isinstance(device, Unsure):
            return device
        case Symbolic() if value.since is not None:
            return DeviceOf(value.origin)
        case _:
            return None


def _begun(run: Run, method: cst.BaseExpression) -> int | None:
    """When the first loop began that goes on to put something into a list that was there before."""
    match method:
        case cst.Attribute(value=cst.Name(name)):
            made = run.frame.last_bound.get(name)
        case cst.Attribute(value=cst.Attribute(attr=cst.Name(name))):
            made = run.stored.get(name, 0)
        case _:
            made = None
    if made is None:
        return None
    return next((loop.since for loop in run.frame.loops if made < loop.since), None)


def forget_put(run: Run, ref: Ref) -> None:
    """What was put into a list may have been taken out again, or moved in place."""
    for name in [name for name in run.state.fields(ref) if name.startswith(_PUT)]:
        run.state.write(ref, name, Unknown("may be elsewhere by now"))


def put_on_two(run: Run, ref: Ref) -> tuple[Value, Value] | None:
    """Two tensors on two devices that one list holds: no question told their paths apart."""
    fields = run.state.fields(ref).items()
    held = [value for name, value in fields if name.startswith(_PUT)]
    for one, other in combinations(held, 2):
        pairs = product(_paths(run, ref, one), _paths(run, ref, other))
        if any(not _are_apart(this, that) for this, that in pairs):
            return one, other
    return None


def _paths(run: Run, ref: Ref, value: Value) -> set[Path]:
    device = _device_of(value)
    return set() if device is None else run.notes(Puts).paths[ref, device]


def _are_apart(this: Path, that: Path) -> bool:
    """Whether two paths answer one question differently."""
    return any(
        _asked(one) == _asked(other) and answer != denied
        for (one, answer), (other, denied) in product(this, that)
    )


def _asked(question: Hashable) -> Hashable:
    """A question, whenever it is asked: what calls a function may get one answer each time."""
    match question:
        case (int() as condition, int()):
            return condition
        case _:
            return question
