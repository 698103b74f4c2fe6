"""What leaves an accelerator again: where it is when a callback runs, nobody can tell.

A function that nobody calls in sight is walked at the end, with what holds there. Where a module
was moved away from an accelerator in between, or a name was bound to a tensor elsewhere, it may
as well run before that.
"""

from __future__ import annotations

from dataclasses import replace

from devicelint.domain.devices import CPU, Device, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import Module, Placed, Ref, Tensor, Unknown, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes

_MOVES = (Verb.MOVED, Verb.PLACED)
_OWNED = ("parameter", "buffer")
_NOWHERE = Unsure("it is moved more than once")


class MovedBack(Notes):
    """What has left an accelerator again: modules, and names of tensors."""

    def __init__(self) -> None:
        self.places: set[tuple[Ref, str]] = set()


def note_module_moved(run: Run, module: Module, old: Value | None, place: Placed) -> None:
    """A module was moved, from an accelerator perhaps."""
    if not isinstance(old, Placed) or not _leaves(old.device, place.device):
        return
    if place.since.verb is Verb.MOVED and old.since.verb in _MOVES:
        run.notes(MovedBack).places.add((module.ref, DEVICE_FIELD))


def note_bound_again(run: Run, name: str, value: Tensor) -> None:
    """A name that stood for a tensor, perhaps, is about to stand for this one."""
    ref = run.frame.scope_of(name, run.state)
    old = run.state.read(ref, name)
    if isinstance(old, Tensor) and _leaves(old.device, value.device):
        run.notes(MovedBack).places.add((ref, name))


def _leaves(old: Device, new: Device) -> bool:
    return old not in (CPU, new) and not isinstance(old, Unsure)


def forget_places(run: Run) -> None:
    """Before a function is walked that may be called at any time."""
    for ref, name in run.notes(MovedBack).places:
        held = run.state.read(ref, name)
        if isinstance(held, Placed):
            _unsettle(run, ref, Step(held.since.verb, held.since.site, _NOWHERE))
        elif isinstance(held, Tensor):
            run.state.write(ref, name, Unknown("bound more than once"))


def _unsettle(run: Run, ref: Ref, since: Step) -> None:
    for field, value in tuple(run.state.fields(ref).items()):
        if isinstance(value, Placed) or (isinstance(value, Tensor) and value.role in _OWNED):
            run.state.write(ref, field, replace(value, device=_NOWHERE, since=since))
