"""What the rules about two devices share: the words for a clash, and the move that mends it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU, Agreement, DeviceOf, Opaque
from devicelint.domain.events import Clash, Operand
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import Module, Tensor
from devicelint.finding import Certainty, Severity
from devicelint.fixes import AddKeyword, Change, InsertAfter, InsertStatement, Rewrite
from devicelint.interpreter.scene import Scene
from devicelint.rules._base import line_of

_BRIEF = 40


def quoted(scene: Scene, site: Site) -> str:
    """An expression as a message shows it, cut where it is long."""
    code = " ".join(scene.code(site).split())
    return f"`{code if len(code) <= _BRIEF else code[: _BRIEF - 1] + '…'}`"


def place(operand: Operand) -> str:
    """Where an operand is, in words."""
    if operand.device == CPU:
        return "the CPU"
    if isinstance(operand.device, DeviceOf):
        return "the device that the caller chose"
    return f"`{operand.device}`" if isinstance(operand.device, Opaque) else str(operand.device)


def since(operand: Operand, index: int) -> str:
    """ " since line 12", where the step that put an operand there is a place of its own."""
    if operand.since is None or operand.since.site is operand.site:
        return ""
    return f" since line {line_of(index)}"


def history(*operands: Operand) -> tuple[tuple[Site, str], ...]:
    """The steps that put operands where they are, each at its place."""
    return tuple(
        (operand.since.site, _told(operand.since))
        for operand in operands
        if operand.since is not None
    )


def _told(step: Step) -> str:
    return str(step).replace("on cpu", "on the CPU").replace("to cpu", "to the CPU")


def severity(clash: Clash) -> Severity:
    """An error where both devices are known; else it fails unless the choice is the CPU."""
    certain = clash.agreement is Agreement.DIFFERENT
    return Severity.ERROR if certain else Severity.WARNING


def certainty(clash: Clash) -> Certainty:
    """By contract where one device is the caller's choice."""
    devices = (clash.culprit.device, clash.reference.device)
    by_contract = any(isinstance(device, DeviceOf) for device in devices)
    return Certainty.CONTRACT if by_contract else Certainty.CERTAIN


def condition(clash: Clash) -> str:
    """ "unless `args.device` is the CPU", where the code does not say which device it is."""
    for operand in (clash.culprit, clash.reference):
        if isinstance(operand.device, Opaque):
            return f" (unless `{operand.device}` is the CPU)"
        if isinstance(operand.device, DeviceOf):
            return " (unless that is the CPU)"
    return ""


def failing(clash: Clash) -> Iterator[tuple[Site, str]]:
    """Where torch would raise, if that is not where the culprit stands."""
    if clash.culprit.site is not clash.failing:
        yield clash.failing, "fails here"


def move_culprit(scene: Scene, clash: Clash) -> Rewrite | None:
    """Bring the culprit to the reference's device, in the way that the file itself would."""
    here = scene.at(clash)
    culprit, reference = clash.culprit, clash.reference
    if reference.device == CPU:
        return None
    if _is_created_without_device(here, culprit):
        return _create_there(here, culprit, reference)
    move = _move(here, reference)
    if move is None:
        return None
    change = _beside_its_binding(here, culprit, move) or InsertAfter(_node(culprit.site), move)
    return Rewrite(f"Move {quoted(here, culprit.site)} with `{move}`", (change,))


def _is_created_without_device(scene: Scene, operand: Operand) -> bool:
    step = operand.since
    return step is not None and step.verb is Verb.CREATED and scene.is_made_here(step.site)


def _create_there(scene: Scene, culprit: Operand, reference: Operand) -> Rewrite | None:
    spelled = _device_expression(scene, reference)
    step = culprit.since
    if spelled is None or step is None or not isinstance(step.site, cst.Call):
        return None
    change = AddKeyword(step.site, "device", spelled)
    return Rewrite(f"Create it with `device={spelled}`", (change,))


def _device_expression(scene: Scene, reference: Operand) -> str | None:
    spelled = scene.spelling(reference.device)
    if spelled is not None:
        return spelled
    step = reference.since
    if step is not None and step.verb is Verb.MOVED and isinstance(step.site, cst.Call):
        move = scene.move_to(reference.device, step)
        if move is not None and move.startswith(".to("):
            return move[4:-1]
        if move is not None and move.startswith(".cuda("):
            return f'"{reference.device}"'
    return scene.device_of_value(reference.value, reference.site)


def _move(scene: Scene, reference: Operand) -> str | None:
    move = scene.move_to(reference.device, reference.since)
    if move is not None:
        return move
    device = scene.device_of_value(reference.value, reference.site)
    return None if device is None else f".to({device})"


def _beside_its_binding(scene: Scene, culprit: Operand, move: str) -> Change | None:
    """`x = x.to(device)` where `x` got its name: beside its moved siblings, or first in the loop."""
    step = culprit.since
    if step is None or step.verb is not Verb.LOADED or not isinstance(culprit.site, cst.Name):
        return None
    binding = scene.bound_by(culprit.site)
    name = culprit.site.value
    statement = f"{name} = {name}{move}"
    if binding is None:
        return None
    sibling = scene.moved_beside(binding)
    if isinstance(sibling, cst.CSTNode):
        return InsertStatement(sibling, statement, "after")
    if isinstance(binding, cst.For):
        return InsertStatement(binding.body.body[0], statement, "before")
    if isinstance(binding, cst.Assign):
        return InsertStatement(binding, statement, "after")
    return None


def is_kept(operand: Operand) -> bool:
    """Whether an operand is a plain tensor attribute of a Module."""
    return isinstance(operand.value, Tensor) and operand.value.kept is not None


def is_fresh(operand: Operand) -> bool:
    """Whether an operand was created on the CPU for want of a device argument."""
    return operand.device == CPU and operand.since is not None and operand.since.verb is Verb.CREATED


def is_module(operand: Operand) -> bool:
    """Whether an operand is a Module itself."""
    return isinstance(operand.value, Module)


def _node(site: Site) -> cst.CSTNode:
    assert isinstance(site, cst.CSTNode)
    return site


def is_contract(clash: Clash) -> bool:
    """Whether one of the devices is the caller's choice."""
    return certainty(clash) is Certainty.CONTRACT


def subject(clash: Clash) -> object:
    """What makes two clashes the same mistake: the step that left the culprit where it is."""
    return clash.culprit.since or clash.culprit.site
