"""Operands of an operation: which devices they are on, and whether those agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    NOT_UNDERSTOOD,
    NOWHERE,
    Agreement,
    Device,
    DeviceOf,
    Known,
    Opaque,
    Unsure,
    agreement,
)
from devicelint.domain.events import Clash, MisplacedInput, MixedOperation, Operand
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import Batch, Module, Placed, Symbolic, Tensor, Value
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.called_elsewhere import report_elsewhere
from devicelint.interpreter.facts.device_settings import asks_for_device
from devicelint.interpreter.facts.module_inputs import called_module, is_called_through, name_of
from devicelint.interpreter.python.paths.device_questions import are_one_here, is_on_the_cpu_here
from devicelint.interpreter.python.unseen import is_derived
from devicelint.interpreter.torch.operations.clashed import is_met_again
from devicelint.interpreter.torch.operations.excuses import CLASH, DIFFERENT, INPUT
from devicelint.interpreter.torch.operations.verdicts import judged


def operand_of(value: Value, site: Site) -> Operand | None:
    """The operand that a value is, where it may be a tensor at all."""
    if isinstance(value, (Tensor, Batch, Placed)):
        return Operand(site, value, value.device, value.since)
    if isinstance(value, Symbolic):
        if value.since is None:
            return Operand(site, value, Unsure(f"{value.origin} is not known"))
        return Operand(site, value, DeviceOf(value.origin), value.since)
    return None


def mixes_as_scalar(operand: Operand) -> bool | None:
    """Whether an operand is a 0-dim tensor on the CPU, which mixes; None: perhaps."""
    apart = isinstance(operand.device, Opaque) and operand.device.apart
    if operand.device != CPU and not apart:
        return False
    return operand.value.scalar if isinstance(operand.value, Tensor) else False


def find_clash(operands: Sequence[tuple[Operand, bool]]) -> tuple[Operand, Operand] | None:
    """The operand to blame and the one it clashes with; each comes with whether 0-dim mixes."""
    firm = [one for one, mixes in operands if not (mixes and mixes_as_scalar(one) is not False)]
    clashing = [
        (one, other) if one.device == CPU else (other, one)
        for one, other in combinations(firm, 2)
        if agreement(one.device, other.device) in DIFFERENT
    ]
    return min(clashing, key=_unseen_among, default=None)


def _unseen_among(pair: tuple[Operand, Operand]) -> int:
    """How many of two operands come from what is not seen: what is known is said first."""
    return sum(map(_is_of_unseen, pair))


def _is_of_unseen(operand: Operand) -> bool:
    return isinstance(operand.device, DeviceOf) and operand.device.is_unseen


def common_device(operands: Sequence[Operand], *, unknown: bool) -> tuple[Device, Step | None]:
    """The device of a result: an accelerator if any operand is on one."""
    for one in operands:
        if isinstance(one.device, Known) and one.device.type != "cpu":
            return one.device, one.since
    firm = _firmly_on_cpu(operands)
    is_away = any(one.device is NOWHERE for one in operands)
    for one in sorted(operands, key=_how_little_is_known):
        if one.device != CPU and not isinstance(one.device, Unsure):
            if _is_of_unseen(one) and (
                is_away or (firm is not None and not is_derived(one.device))
            ):
                break
            if isinstance(one.value, Symbolic) and (unknown or len(operands) > 1):
                return _device_beside_outside(operands, one)
            return one.device, one.since
    if firm is not None:
        return firm.device, firm.since
    unsure = next((one for one in operands if isinstance(one.device, Unsure)), None)
    if unsure is not None:
        return unsure.device, unsure.since
    if unknown or not operands:
        return NOT_UNDERSTOOD, None
    decisive = next((one for one in operands if not _is_kept(one)), operands[0])
    return decisive.device, decisive.since


def _how_little_is_known(operand: Operand) -> int:
    """What the program chose decides, then what it was given, then what is not seen."""
    return isinstance(operand.device, DeviceOf) + _is_of_unseen(operand)


def _firmly_on_cpu(operands: Sequence[Operand]) -> Operand | None:
    """A tensor with dimensions that keeps the result on the CPU, whatever the others are."""
    if any(one.device is NOWHERE for one in operands):
        return None
    on_cpu = (one for one in operands if one.device == CPU)
    return next((one for one in on_cpu if mixes_as_scalar(one) is False), None)


def _is_kept(operand: Operand) -> bool:
    return operand.since is not None and operand.since.kept is not None


def _device_beside_outside(
    operands: Sequence[Operand], outside: Operand
) -> tuple[Device, Step | None]:
    """`x` is not known to be a tensor: where it is a number, the other operand decides."""
    for one in operands:
        if not isinstance(one.value, Symbolic):
            if one.device == CPU and mixes_as_scalar(one) is not False:
                return Unsure(f"{outside.device} may be a number or a tensor"), None
            return one.device, one.since
    return outside.device, outside.since


def report_clash(
    run: Run,
    site: Site,
    operation: str,
    pair: tuple[Operand, Operand],
    *,
    in_place: bool = False,
    index: bool = False,
) -> None:
    """Announce that two operands differ, at the place where the culprit should be moved."""
    culprit, reference = pair
    if _meet_here(run, culprit, reference):
        return
    blamed, frame, there = _blame(run, culprit)
    if frame is None and not run.frame.is_checked:
        report_elsewhere(run, site, operation, culprit, reference)
    standing = judged(run, site, operation, (blamed, reference), CLASH, there)
    if standing is None:
        return
    verdict = agreement(culprit.device, reference.device)
    if frame is None:
        clash = Clash(culprit, reference, verdict, site, run.frame, standing=standing)
    else:
        met, is_here = _seen_from_outside(run, frame, reference)
        is_here = is_here and there is frame.caller
        clash = Clash(blamed, met, verdict, site, there, is_here, standing)
    if frame is not None and isinstance(clash.reference.value, Module):
        assert frame.site is not None
        run.announce(MisplacedInput(frame.site, name_of(run, frame.site.func), clash))
    else:
        clash = replace(clash, follows=is_met_again(run, culprit, reference))
        run.announce(MixedOperation(site, operation, clash, in_place=in_place, index=index))


def _meet_here(run: Run, one: Operand, other: Operand) -> bool:
    """Whether a condition on this path, or the machine, makes sure that two are on one device.

    Where there is no accelerator, whoever chooses a device has the CPU alone.
    """
    if are_one_here(run, one.device, other.device):
        return True
    is_chosen = any(isinstance(each.device, Opaque) for each in (one, other))
    if is_chosen and not run.world.accelerators:
        return True
    pairs = ((one, other), (other, one))
    return any(a.device == CPU and is_on_the_cpu_here(run, b.device) for a, b in pairs)


def _seen_from_outside(run: Run, frame: Frame, reference: Operand) -> tuple[Operand, bool]:
    """What a value that was passed into a call met there, as the caller can name it.

    That is another argument, or the module that was called; else it has no name out there.
    """
    passed = frame.passed.get(reference.since) if reference.since is not None else None
    if passed is not None:
        return replace(reference, site=passed), True
    if frame.module is None or frame.site is None:
        return reference, False
    met = _outer_module(run, frame.module, replace(reference, site=frame.site.func))
    return (met, True) if met.value is frame.module else (reference, False)


def report_input(
    run: Run, site: cst.Call, own: Operand, operand: Operand, part: str = ""
) -> Operand:
    """Announce that an input of a module is not where the module, or a part of it, is.

    Returns the outermost module that the call entered, which is the one to speak of.
    """
    if _meet_here(run, own, operand):
        return own
    blamed, frame, there = _blame(run, operand)
    entered, outer = site, run.sequential_at(site)
    called = None if frame is None else _called_in(frame)
    if called is not None:
        entered, outer = called[0], called[2]
    named = called_module(entered.func) if called is None else called[1]
    met = replace(own, site=named)
    if outer is not None:
        met = _outer_module(run, outer, met)
    here = _where_checked(there) if _is_unmoved(run, met) else there
    standing = judged(run, entered, f"{run.code_of(named)}()", (met, blamed), INPUT, here)
    if standing is None:
        return met
    is_here = frame is None or (called is not None and there is frame.caller)
    verdict = agreement(own.device, operand.device)
    clash = Clash(blamed, met, verdict, site, here, is_here, standing)
    name = f"{name_of(run, named)}{part if called is None else ''}"
    run.announce(MisplacedInput(entered, name, clash))
    return met


def _is_unmoved(run: Run, module: Operand) -> bool:
    """Whether a module is where the checked file built it, and was given no device there."""
    since = module.since
    if since is None or since.verb is not Verb.BUILT or since.site not in run.made_in:
        return False
    given = since.site.args if isinstance(since.site, cst.Call) else ()
    return not any(one.star == "**" or asks_for_device(run, one.value) for one in given)


def _where_checked(frame: Frame | None) -> Frame | None:
    """The call of the checked file that led to a frame of another one."""
    while frame is not None and not frame.is_checked:
        frame = frame.caller
    return frame


def _called_in(frame: Frame) -> tuple[cst.Call, cst.BaseExpression, Module] | None:
    """The call that entered a Module, as itself or by a method, its name there, and the Module."""
    call, receiver = frame.site, frame.receiver
    if call is None:
        return None
    if frame.module is not None:
        return call, called_module(call.func), frame.module
    if not isinstance(receiver, Module) or _is_left_elsewhere(frame):
        return None
    return (call, call.func.value, receiver) if isinstance(call.func, cst.Attribute) else None


def _outer_module(run: Run, outer: Module, inner: Operand) -> Operand:
    """The module around one, where both are on one device."""
    place = run.state.read(outer.ref, DEVICE_FIELD)
    if isinstance(place, Placed) and agreement(place.device, inner.device) is Agreement.SAME:
        return Operand(inner.site, outer, place.device, place.since)
    return inner


def _is_left_elsewhere(frame: Frame) -> bool:
    """Whether a call stands in a file that the checked one imports."""
    return frame.caller is not None and not frame.caller.is_checked


def _blame(run: Run, culprit: Operand) -> tuple[Operand, Frame | None, Frame | None]:
    """The outermost call that passed the culprit on, and the argument that it was there.

    The first frame is that of the outermost module that was called with it, if any was; the second
    that in which the argument stands.
    """
    blamed, found = culprit, None
    frame: Frame | None = run.frame
    while frame is not None and culprit.since is not None:
        site = frame.passed.get(culprit.since)
        if site is None:
            break
        blamed = Operand(site, culprit.value, culprit.device, culprit.since)
        if found is None or is_called_through(frame, found) or _is_left_elsewhere(found):
            found = frame
        frame = frame.caller
    return blamed, found, frame


def grad_of_operands(operands: Sequence[Operand], *, unknown: bool) -> bool | None:
    """Whether a result requires grad: it does if any operand does."""
    values = (operand.value for operand in operands)
    grads = [value.grad if isinstance(value, Tensor) else None for value in values]
    if True in grads:
        return True
    return None if None in grads or unknown else False


def computed(site: Site, device: Device, since: Step | None) -> Step:
    """The history of a result: that of the operand which decides, else its own."""
    return since if since is not None else Step(Verb.COMPUTED, site, device)
