"""What a condition has found out of a name, kept in the name itself: its paths may meet again.

A thing that is no tensor lies nowhere.  A tensor of the CPU whose device equals another is where
that is: `if x.device != device: x = x.to(device)` leaves it there on both paths.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import Known, Unsure
from devicelint.domain.values import Array, Batch, DeviceHandle, Path, Placed, Tensor, Unknown
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import settles
from devicelint.interpreter.facts.tensor_parameters import IS_TENSOR
from devicelint.interpreter.python.paths.device_questions import decided_parts
from devicelint.interpreter.python.paths.kinds import asked_types
from devicelint.interpreter.python.unseen import keep_settled


def narrow(run: Run, test: cst.BaseExpression, said: Path, outcome: bool) -> None:
    """Bind the names of a condition that has come out so to what they now are."""
    if any(isinstance(asked, tuple) and asked[0] == IS_TENSOR for asked, _ in said):
        _keep_kinds(run, test)
    for part, holds in decided_parts(test, outcome):
        match part:
            case cst.Comparison(
                left=left,
                comparisons=[cst.ComparisonTarget(cst.Equal() | cst.NotEqual() as sign, right)],
            ) if isinstance(sign, cst.Equal) is holds:
                _keep_device(run, left, right)
                _keep_device(run, right, left)
            case cst.Call(args=[cst.Arg(value=cst.Name() as name), _]) if not holds:
                _keep_array(run, part, name)
            case _:
                pass


def _keep_kinds(run: Run, test: cst.BaseExpression) -> None:
    for node in descendants(test):
        if not isinstance(node, cst.Name):
            continue
        value = run.lookup(node.value)
        if isinstance(value, (Placed, Batch)):
            keep_settled(run, value, settles[type(value)](run, value, node), node)


def _keep_array(run: Run, test: cst.Call, name: cst.Name) -> None:
    """What a library of arrays gives may be something else, where `isinstance` has denied it."""
    value = run.lookup(name.value)
    if isinstance(value, Array) and "numpy.ndarray" in asked_types(run, test):
        keep_settled(run, value, Unknown("what a library gives is no array"), name)


def _keep_device(run: Run, asked: cst.BaseExpression, equal: cst.BaseExpression) -> None:
    """Put the tensor whose device is asked where that equals another, which is not known."""
    match asked:
        case cst.Attribute(value=cst.Name() as name, attr=cst.Name("device")):
            value = run.lookup(name.value)
        case _:
            return
    if not isinstance(value, (Tensor, Placed)) or not isinstance(value.device, Known):
        return
    with run.muted():
        other = run.evaluate(equal)
    if isinstance(other, DeviceHandle) and not isinstance(other.device, (Known, Unsure)):
        keep_settled(run, value, replace(value, device=other.device), name)
