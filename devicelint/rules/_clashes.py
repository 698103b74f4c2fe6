"""What the rules about two devices share: the words for a clash."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU, Agreement, Device, DeviceOf, Opaque, is_accelerator
from devicelint.domain.events import Clash, Operand
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.standing import Level
from devicelint.domain.values import Module
from devicelint.finding import FAILS_HERE, Certainty, Severity
from devicelint.fixes import Rewrite
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._base import line_of

_BRIEF = 40


def quoted(context: RuleContext, site: Site) -> str:
    """An expression as a message shows it, cut where it is long."""
    code = " ".join(context.code(site).split())
    return f"`{code if len(code) <= _BRIEF else code[: _BRIEF - 1] + '…'}`"


def place(operand: Operand) -> str:
    """Where an operand is, in words."""
    if operand.device == CPU:
        return "the CPU"
    if isinstance(operand.device, DeviceOf):
        return "the caller's device"
    return f"`{operand.device}`" if isinstance(operand.device, Opaque) else str(operand.device)


def since(operand: Operand, index: int) -> str:
    """As in "since line 12", where the step that put an operand there is a place of its own.

    What a Module computed has not moved itself: "because line 12 moved a module there".
    """
    step = operand.since
    if step is None or step.site is operand.site:
        return ""
    if step.of_module and not isinstance(operand.value, Module):
        return f" because line {line_of(index)} moved a module there"
    return f" since line {line_of(index)}"


def history(*operands: Operand) -> tuple[tuple[Site, str], ...]:
    """The steps that put operands where they are, each at its place."""
    steps = [operand.since for operand in operands if operand.since is not None]
    shown = [(_shown(step), _sentence(step)) for step in steps]
    moves = [(step.evidence, "moved here, so it was on the CPU before") for step in steps]
    return (*shown, *((site, message) for site, message in moves if site is not None))


def _shown(step: Step) -> Site:
    """A move is shown at its method: what is moved may stand many lines above."""
    if step.verb is Verb.MOVED and isinstance(step.site, cst.Call):
        func = step.site.func
        return func.attr if isinstance(func, cst.Attribute) else step.site
    return step.site


def _sentence(step: Step) -> str:
    return str(step).replace("on cpu", "on the CPU").replace("to cpu", "to the CPU")


def severity(clash: Clash) -> Severity:
    """An error where both devices are known; else it fails unless the choice is the CPU."""
    certain = clash.agreement is Agreement.DIFFERENT
    return Severity.ERROR if certain else Severity.WARNING


def certainty(clash: Clash) -> Certainty:
    """By contract where one device is the caller's choice; by belief what the code only expects."""
    operands = (clash.culprit, clash.reference)
    if any(isinstance(operand.device, DeviceOf) for operand in operands):
        return Certainty.CONTRACT
    is_certain = clash.standing.level is Level.CERTAIN
    return Certainty.CERTAIN if is_certain else Certainty.BELIEF


def condition(clash: Clash) -> str:
    """As in "unless `args.device` is the CPU", where the code does not say which device it is."""
    return unless(clash.culprit, clash.reference)


def unless(culprit: Operand, reference: Operand) -> str:
    """The same of two operands."""
    for operand in (reference, culprit):
        if isinstance(operand.device, Opaque) and operand.device.apart:
            return f" (unless `{operand.device}` is the same device)"
    for operand, other in ((culprit, reference), (reference, culprit)):
        if isinstance(operand.device, Opaque):
            return f" (unless `{operand.device}` is {_by_name(other.device)})"
        if isinstance(operand.device, DeviceOf):
            return " (unless that is the CPU)"
    return ""


def _by_name(device: Device) -> str:
    """What a choice may fall on as well: an accelerator by its number, or the CPU."""
    return str(device) if is_accelerator(device) else "the CPU"


def failing(context: RuleContext, clash: Clash) -> Iterator[tuple[Site, str]]:
    """Where torch would raise, if that is in another function than the culprit."""
    if not context.is_at(clash):
        yield clash.failing, FAILS_HERE


def is_kept(operand: Operand) -> bool:
    """Whether an operand is a plain tensor attribute of a Module."""
    return operand.since is not None and operand.since.kept is not None


def is_moved_at_times(operand: Operand) -> bool:
    """Whether it is `x.cuda() if flag else x`: a fix for one arm may break the other."""
    site = operand.site
    arms = (site.body, site.orelse) if isinstance(site, cst.IfExp) else ()
    calls = (arm.func for arm in arms if isinstance(arm, cst.Call))
    return any(isinstance(func, cst.Attribute) and func.attr.value in MOVES for func in calls)


def is_led_astray(context: RuleContext, module: Operand) -> bool:
    """Whether a line has moved a module that comes later in the loop than its call."""
    step = module.since
    return step is not None and step.of_module and context.comes_round(step.site)


def is_fresh(context: RuleContext, clash: Clash) -> bool:
    """Whether the culprit was created on the CPU for want of a device argument.

    What another function has made and handed over is to be moved, and not its affair.
    """
    step = clash.culprit.since
    if clash.culprit.device != CPU or step is None:
        return False
    if step.verb is not Verb.CREATED and not _is_converted_for(step, clash):
        return False
    return context.at(clash).sees_where_made(step.site, clash.reference.device)


def _is_converted_for(step: Step, clash: Clash) -> bool:
    """Whether host data became a tensor where a caller's tensor was at hand."""
    return step.verb is Verb.CONVERTED and isinstance(clash.reference.device, DeviceOf)


def subject(clash: Clash, fix: Rewrite | None) -> object:
    """What makes two clashes the same mistake: the same repair, or else the same cause."""
    return fix.changes if fix is not None else clash.culprit.since or clash.culprit.site
