"""What the code itself treats as something that may be on any device: its own rule.

Asking a value for its device, or copying it to the CPU, says that it need not be there.  What is
said of one parameter of a function is said of those beside it, which come from the same caller, and
of those of the other methods of its class.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Opaque
from devicelint.domain.events import Operand
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import ImportedName, Value
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import parameters_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.item_paths import root_of
from devicelint.interpreter.facts.tensor_parameters import prove


def treat_as_movable(run: Run, since: Step | None) -> None:
    """Note that the code treats what a step gave as movable."""
    if since is not None:
        run.program.conduct.movable.update(_subjects(run, since))


def note_followed(run: Run, dtype: Value | None) -> None:
    """What takes its dtype from a tensor, and no device, is made for whatever a caller gives."""
    if not isinstance(dtype, ImportedName) or dtype.of is None:
        return
    device = dtype.of.device
    if isinstance(device, DeviceOf):
        prove(run, device.place)
        treat_as_movable(run, dtype.of)


def symbols_of(run: Run, operands: tuple[Operand, ...]) -> frozenset[Site]:
    """What has to be treated as movable for the operands of the caller's choice to be so."""
    return frozenset(
        one
        for operand in operands
        if isinstance(operand.device, DeviceOf) and operand.since is not None
        for one in _subjects(run, operand.since)
    )


def receivers_of(run: Run, since: Step) -> frozenset[Site]:
    """The functions of other files that were given what a step put somewhere."""
    found: set[Site] = set()
    for frame in takewhile(lambda one: not one.is_checked, run.frame.outwards()):
        if since in frame.passed:
            found.add(frame.node)
    return frozenset(found)


def is_placed_beside(operand: Operand) -> bool:
    """Whether the code itself put something where the caller's tensor is: `device=x.device`."""
    return (
        isinstance(operand.device, DeviceOf)
        and operand.since is not None
        and operand.since.verb not in (Verb.RECEIVED, Verb.GIVEN)
    )


def note_chosen(run: Run, device: Device | None) -> None:
    """What makes a tensor on a device that somebody chooses expects those beside it there."""
    is_chosen = isinstance(device, Opaque) and not device.apart
    if is_chosen or (isinstance(device, DeviceOf) and device.is_unseen):
        run.program.conduct.movable.update(class_of(run, run.frame))
        if isinstance(run.frame.node, (cst.FunctionDef, cst.Lambda)):
            run.program.conduct.movable.add(run.frame.node)


def _subjects(run: Run, since: Step) -> Iterator[Site]:
    """The parameter that a step received, the functions that it was given to, and their classes."""
    yield from received_by(run, since)
    for frame in run.frame.outwards():
        if since in frame.passed or any(_origins(frame, since)):
            yield from class_of(run, frame)


def received_by(run: Run, since: Step) -> Iterator[Site]:
    """The parameter that a step received, and the functions that it was given to."""
    yield since.site
    for frame in run.frame.outwards():
        origins = tuple(_origins(frame, since))
        yield from origins
        is_given = since in frame.passed or origins
        if is_given and isinstance(frame.node, (cst.FunctionDef, cst.Lambda)):
            yield frame.node


def class_of(run: Run, frame: Frame) -> Iterator[Site]:
    """The class whose method a frame is of."""
    if frame.owner is not None:
        yield from (one.node for one in run.classes.values() if one.ref == frame.owner)


def _origins(frame: Frame, since: Step) -> Iterator[Site]:
    """The parameters of a function that a step received, or that something unseen is made of."""
    if not isinstance(frame.node, (cst.FunctionDef, cst.Lambda)):
        return
    device = since.device
    lineage = device.lineage if isinstance(device, DeviceOf) else None
    roots = {root_of(place) for place in lineage or ()}
    for one in parameters_of(frame.node):
        if one is since.site or one.name.value in roots:
            yield one
