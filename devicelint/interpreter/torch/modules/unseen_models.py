"""Models of classes that nobody sees: built, asked for what they own, and never moved.

What gives its parameters, or loads them, is a Module, and a Module is on the CPU until somebody
moves it.  One that was built of numbers alone is told of no device, and nobody moves it who does
not get it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU, DeviceOf, Opaque
from devicelint.domain.events import Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    Batch,
    Class,
    Const,
    DictOf,
    HostValue,
    ImportedName,
    Instance,
    ListOf,
    Placed,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.hooks import EVERY_EVENT, Analysis, analysis
from devicelint.interpreter.engine.objects import CLASS_FIELD, order_of_bases
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.facts.name_uses import reads_of
from devicelint.interpreter.python.containers.contents import parts_of
from devicelint.interpreter.torch.modules.escapes import may_move
from devicelint.interpreter.torch.modules.inputs import inputs_of
from devicelint.interpreter.torch.operations.meetings import is_chosen
from devicelint.interpreter.torch.operations.operands import operand_of
from devicelint.interpreter.torch.operations.reports import report_input

_LOADS = "load_state_dict"
_SHOWS = frozenset({"parameters", "named_parameters", "eval", "state_dict", _LOADS})
"""What Modules are asked for, of all that is called with tensors."""
_STAYS = _SHOWS | {"train", "zero_grad"}
"""Methods of Modules that leave them where they are."""


class Models(Notes):
    """What the walk has seen of what nobody sees, by the places of the results."""

    def __init__(self) -> None:
        self.asked: set[tuple[str, str]] = set()
        """What was asked for what Modules have, and for what."""
        self.gone: set[str] = set()
        """What may have been moved: given to others, or asked for more than a Module is."""


def note_asked(run: Run, model: Unknown, name: str) -> None:
    """A method of something that is not seen is called, or an attribute is read."""
    place = _place_of(model)
    if place is None:
        return
    models = run.notes(Models)
    if name not in _STAYS:
        models.gone.add(place)
    elif name in _SHOWS:
        models.asked.add((place, name))


def _place_of(value: Value) -> str | None:
    if not isinstance(value, Unknown) or value.symbol is None:
        return None
    device = value.symbol.device
    return device.place if isinstance(device, DeviceOf) else None


@analysis
class GivenAway(Analysis):
    """Notes what is given to code that may move it, and looks at attributes that are called."""

    serves = EVERY_EVENT

    def on_called_unseen(self, callee: Value, arguments: Arguments, site: cst.Call) -> None:
        """What a call that nobody sees is given, by itself or in a container."""
        if isinstance(callee, Unknown) and isinstance(site.func, cst.Attribute):
            check_unmoved(self.run, callee, arguments, site)
        if not may_move(callee):
            return
        for argument in arguments:
            for one in _held(self.run, argument.value):
                place = _place_of(one)
                if place is not None:
                    self.run.notes(Models).gone.add(place)


def _held(run: Run, value: Value) -> tuple[Value, ...]:
    return parts_of(run, value) if isinstance(value, (Tuple, ListOf, DictOf)) else (value,)


def check_unmoved(run: Run, callee: Unknown, arguments: Arguments, site: cst.Call) -> None:
    """A model that nobody has moved is given what was moved to where the program computes."""
    place, made = _place_of(callee), None if callee.symbol is None else callee.symbol.site
    models = run.notes(Models)
    if place is None or place in models.gone or not isinstance(made, cst.Call):
        return
    asked = {name for name in _SHOWS if (place, name) in models.asked}
    brought = next(_brought(arguments), None) if asked else None
    if brought is None or run.default_device != CPU or not _is_imported(run, made):
        return
    if not _is_left_alone(run, site.func) or not _is_told_of_no_device(run, made, asked, brought):
        return
    run.note_made(made)
    since = Step(Verb.BUILT, made, CPU, believed=True)
    report_input(run, site, Operand(site.func, callee, CPU, since), brought)


def _brought(arguments: Arguments) -> Iterator[Operand]:
    """The inputs that were moved to an accelerator, or to a device that the program chooses."""
    for argument in inputs_of(arguments):
        value = argument.value
        if not isinstance(value, (Tensor, Batch, Placed)) or value.since.verb is not Verb.MOVED:
            continue
        operand = operand_of(value, argument.site)
        if operand is not None and is_chosen(value.device):
            yield operand


def _is_imported(run: Run, made: cst.Call) -> bool:
    """Whether the call of something imported, in the checked file, gave a model."""
    if made not in reads_of(run.module).around:
        return False
    with run.muted():
        callee = run.evaluate(made.func)
    return isinstance(callee, ImportedName) and may_move(callee)


def _is_left_alone(run: Run, func: cst.BaseExpression) -> bool:
    """Whether nothing in the file does more with an attribute than to ask and to call it."""
    if isinstance(func, cst.Name):
        return True
    if not isinstance(func, cst.Attribute) or not _is_of_seen_object(run):
        return False
    reads = reads_of(run.module)
    return all(_is_harmless(reads.around[one], one) for one in reads.attributes[func.attr.value])


def _is_of_seen_object(run: Run) -> bool:
    """Whether this is a method of a plain object, whose class has no base that is not seen."""
    receiver = run.frame.receiver
    if not isinstance(receiver, Instance):
        return False
    cls = run.state.read(receiver.ref, CLASS_FIELD)
    return isinstance(cls, Class) and all(
        isinstance(base, Class) for one in order_of_bases(cls) for base in one.bases
    )


def _is_harmless(around: cst.CSTNode, one: cst.Attribute) -> bool:
    match around:
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in _STAYS
        case cst.Call(func=func):
            return func is one
        case _:
            return isinstance(around, cst.AssignTarget)


def _is_told_of_no_device(run: Run, made: cst.Call, asked: set[str], brought: Operand) -> bool:
    """Whether something is built of numbers, or single options: nothing that may say a device.

    What loads its parameters is no file that was loaded: it is told what it is built of.
    """
    with run.muted():
        values = [run.evaluate(one.value) for one in made.args]
    if any(one.star for one in made.args):
        return False
    if all(map(_is_number, values)):
        return True
    return _LOADS in asked and all(_says_no_device(run, one, brought) for one in values)


def _is_number(value: Value) -> bool:
    if isinstance(value, Symbolic):
        return "." in value.origin
    is_text = isinstance(value, Const) and isinstance(value.value, str)
    return isinstance(value, (Const, HostValue)) and not is_text


def _says_no_device(run: Run, value: Value, brought: Operand) -> bool:
    """Whether what comes from outside is not what chooses the device of the inputs, either."""
    if not isinstance(value, Symbolic):
        return _is_number(value)
    roots = {_root(key) for key, _ in run.world.settings}
    if isinstance(brought.device, Opaque):
        roots.add(_root(brought.device.origin))
    return _root(value.origin) not in roots


def _root(origin: str) -> str:
    return origin.partition(".")[0]
