"""Clashes of an operation, or of a call of a Module: who is to blame, and where it stands."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, Agreement, Opaque, agreement
from devicelint.domain.events import Clash, MisplacedInput, MixedOperation, Operand
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import Module, Placed, Tensor
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.called_elsewhere import report_elsewhere
from devicelint.interpreter.facts.device_settings import asks_for_device
from devicelint.interpreter.facts.module_inputs import (
    called_module,
    is_being_made,
    is_called_through,
    name_of,
)
from devicelint.interpreter.python.paths.device_questions import are_one_here, is_on_the_cpu_here
from devicelint.interpreter.torch.modules.registration import move_module, submodules
from devicelint.interpreter.torch.operations.clashed import is_met_again
from devicelint.interpreter.torch.operations.excuses import CLASH, INPUT
from devicelint.interpreter.torch.operations.verdicts import judged


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
    if _meet_here(run, culprit, reference) or _report_owner(run, site, culprit, reference):
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


def _report_owner(run: Run, site: Site, culprit: Operand, reference: Operand) -> bool:
    """Announce that a Module was never moved, where the culprit comes from what it registered.

    Such a tensor is elsewhere for want of a move of the Module, whatever line created it.
    """
    blamed, frame, there = _blame(run, reference)
    called = None if frame is None else _called_in(frame)
    if called is None:
        return False
    entered, named, outer = called
    own = _owner_as_built(run, outer, culprit)
    met = None if own is None else _outer_module(run, outer, replace(own, site=named))
    if met is None or not _is_unmoved(run, met):
        return False
    here, is_here = _where_checked(there), frame is not None and there is frame.caller
    standing = judged(run, entered, f"{run.code_of(named)}()", (met, blamed), INPUT, here)
    if standing is not None:
        verdict = agreement(met.device, reference.device)
        clash = Clash(blamed, met, verdict, site, here, is_here, standing)
        run.announce(MisplacedInput(entered, name_of(run, named), clash))
        if reference.since is not None:
            move_module(run, met.value, reference.device, reference.since)
    return True


def _owner_as_built(run: Run, outer: Module, culprit: Operand) -> Operand | None:
    """The Module in another that registered a tensor on the CPU, and is as it was built there."""
    since = culprit.since
    if since is None or since.kept is not None or culprit.device != CPU:
        return None
    owner = next((one for one in submodules(run, outer) if _has_own(run, one, since)), None)
    if owner is None or is_being_made(run, outer):
        return None
    place = module_device(run, owner)
    if place.device != CPU or place.since.verb is not Verb.BUILT:
        return None
    return Operand(culprit.site, owner, CPU, place.since)


def _has_own(run: Run, module: Module, since: Step) -> bool:
    """Whether a Module has registered a tensor that a step put where it is."""
    held = run.state.fields(module.ref).values()
    tensors = (one for one in held if isinstance(one, Tensor) and one.role in _REGISTERED)
    return since == module_device(run, module).since or any(one.since == since for one in tensors)


_REGISTERED = ("parameter", "buffer")


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
