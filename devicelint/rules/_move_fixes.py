"""The move that fixes a clash: of what is on the wrong device, as the file itself would move it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeGuard

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.events import Clash, Operand
from devicelint.domain.history import Site, Verb
from devicelint.domain.values import TensorDict
from devicelint.finding import Safety
from devicelint.fixes import AddKeyword, Change, InsertAfter, InsertStatement, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._batch_fixes import has_move, is_held_elsewhere, moved_whole
from devicelint.rules._clashes import is_moved_at_times, quoted
from devicelint.rules._device_parameters import told_of, ways_of
from devicelint.rules._other_loop_fixes import move_parts, moves_parts
from devicelint.rules._taken_from import device_of_dtype, device_of_size

_MADE = (Verb.CONVERTED, Verb.TYPED)


def move_culprit(context: RuleContext, clash: Clash) -> Rewrite | None:
    """Bring the culprit to the reference's device, in the way that the file itself would."""
    if clash.reference.device == CPU:
        return None
    here = context.at(clash)
    rewrite = (
        _move_beside(context, clash)
        or _with_device_handed_down(context, clash)
        or _create_there(context, clash)
        or _move_at_binding(here, clash)
        or _move_in_place(here, clash)
        or _move_on_the_way(context, clash)
    )
    if rewrite is None:
        return None
    safety = Safety.UNSAFE if is_moved_at_times(clash.reference) else rewrite.safety
    return replace(rewrite, uncovers=True, safety=safety)


def _move_beside(context: RuleContext, clash: Clash) -> Rewrite | None:
    """`return x.to(device), y` moves `y` as well."""
    part = context.moves.unmoved_part(clash.culprit.since)
    if part is None or part.device != clash.reference.device:
        return None
    assert isinstance(part.move.func, cst.Attribute)
    move = context.code(part.move)[len(context.code(part.move.func.value)) :]
    what = quoted(context, part.site)
    return Rewrite(
        f"Move {what} with `{move}`, like the values next to it", (InsertAfter(part.site, move),)
    )


def _with_device_handed_down(context: RuleContext, clash: Clash) -> Rewrite | None:
    """The same with a new parameter, where the callers have a device and the function none."""
    here, device = context.at(clash), clash.reference.device
    site = None if clash.culprit.since is None else clash.culprit.since.site
    made = context.where_made(site)
    for place in (made, here):
        if place is not None and _is_at_hand(place, clash.reference):
            return None
        creation = site if place is made else None
        handed = None if place is None else place.moves.handed_down(device, creation)
        if place is None or handed is None or not handed.is_needed:
            continue
        beside = place.moves.tensor_given(creation)
        if beside is not None:
            return _create_there(context, clash, f"{beside}.device")
        rewrite = (
            (_create_there(context, clash, handed.code) if place is made else None)
            or _move_at_binding(here, clash, handed.code)
            or _move_in_place(here, clash, handed.code)
        )
        if rewrite is not None:
            message = rewrite.message + told_of(handed)
            moves = (one for one in rewrite.changes if not _is_there(here, one))
            return replace(rewrite, message=message, changes=(*ways_of(handed), *moves))
    return None


def _is_there(here: RuleContext, change: Change) -> bool:
    """Whether the function has the very statement, and only its caller no device for it yet."""
    return isinstance(change, InsertStatement) and here.source.has_statement(change.content)


def _is_at_hand(place: RuleContext, reference: Operand) -> bool:
    """Whether a function can say where the other value is, or move as that was moved."""
    if place.moves.spelling(reference.device) is not None:
        return True
    since = reference.since
    moved = since is not None and since.verb is Verb.MOVED
    return moved and place.moves.move_to(reference.device, since) is not None


def _create_there(context: RuleContext, clash: Clash, handed: str | None = None) -> Rewrite | None:
    """`device=` for a new tensor, with a name that has its value where the tensor is created."""
    step = clash.culprit.since
    if step is None or step.verb is not Verb.CREATED or not isinstance(step.site, cst.Call):
        return None
    made = context.where_made(step.site)
    spelled = handed or (None if made is None else _device_expression(made, clash))
    if spelled is None:
        return None
    if not takes_device(step.site):
        move = f".to({spelled})"
        return Rewrite(f"Move it with `{move}`", (InsertAfter(step.site, move),))
    return Rewrite(
        f"Create it with `device={spelled}`", (AddKeyword(step.site, "device", spelled),)
    )


def takes_device(call: cst.Call) -> bool:
    """`torch.Tensor(3)` is of before `device=`, and `torch.from_numpy(a)` shares memory."""
    name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return not (isinstance(name, cst.Name) and _WITHOUT_DEVICE.search(name.value))


def how_to_create(site: Site) -> str:
    """What to do about a tensor that is created on the CPU."""
    if isinstance(site, cst.Call) and not takes_device(site):
        return "move it with .to()"
    return "create it with device="


_WITHOUT_DEVICE = re.compile(r"Tensor$|^from_(?:numpy|dlpack|file)$|^frombuffer$")


def _device_expression(made: RuleContext, clash: Clash) -> str | None:
    reference, since = clash.reference, clash.culprit.since
    call = None if since is None else since.site
    assert isinstance(call, cst.Call)
    spelled = device_of_dtype(made, call, reference) or made.moves.spelling(reference.device)
    if spelled is not None:
        return spelled
    move = made.moves.move_to(reference.device, reference.since, call)
    if move is not None and move.startswith(".to("):
        return move[4:-1]
    if move is not None and move.startswith(".cuda("):
        return f'"{reference.device}"'
    same_frame = clash.is_reference_here and made.is_at(clash)
    named = made.moves.device_of_value(reference.value, reference.site) if same_frame else None
    return named or device_of_size(made, call, reference)


def _move(context: RuleContext, clash: Clash, handed: str | None, place: Site) -> str | None:
    if handed is not None:
        return f".to({handed})"
    reference = clash.reference
    move = context.moves.move_to(reference.device, reference.since, place)
    if move is not None:
        return move
    if not (clash.is_reference_here and context.is_at(clash)):
        return None
    device = context.moves.device_of_value(reference.value, reference.site)
    return None if device is None else f".to({device})"


def _move_at_binding(here: RuleContext, clash: Clash, handed: str | None = None) -> Rewrite | None:
    """`x = x.to(device)` where `x` got its name: beside its siblings, or first in the loop."""
    site, since = _named(here, clash.culprit), clash.culprit.since
    if site is None or since is None:
        return None
    binding = here.source.bound_by(site)
    sibling = None if binding is None else here.beside(binding)
    statement, context = sibling or (binding, here.where_bound(site))
    move = _as_sibling(here, sibling, clash) or _move(context, clash, handed, statement)
    moved = None if move is None else moved_whole(here, site.value, here.names.value_of(site), move)
    if move is None or moved is None:
        return None
    content = f"{site.value} = {moved}"
    change: Change
    if sibling is None and since.verb in _MADE and _binds_one_name(statement):
        if isinstance(statement.value, _DISPLAYS):
            return None
        change = InsertAfter(_data_of_leaf(statement.value), move)
    elif isinstance(statement, cst.For):
        change = InsertStatement(statement.body.body[0], content, "before")
    elif isinstance(statement, cst.Assign):
        change = InsertStatement(statement, content, "after")
    else:
        return None
    return Rewrite(f"Move {quoted(here, site)} with `{move}`", (change,))


def _data_of_leaf(value: cst.BaseExpression) -> cst.BaseExpression:
    """`x` in `x.requires_grad_()`: what is moved after that is no leaf any more."""
    match value:
        case cst.Call(func=cst.Attribute(value=data, attr=cst.Name("requires_grad_"))):
            return data
        case _:
            return value


def _binds_one_name(statement: Site) -> TypeGuard[cst.Assign]:
    if not isinstance(statement, cst.Assign) or len(statement.targets) > 1:
        return False
    return isinstance(statement.targets[0].target, cst.Name)


def _as_sibling(
    here: RuleContext, sibling: tuple[cst.Assign, RuleContext] | None, clash: Clash
) -> str | None:
    """`.to(device, non_blocking=True)`, where a sibling is moved to the same device so."""
    if sibling is None:
        return None
    name, call = sibling[0].targets[0].target, sibling[0].value
    if not (isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute)):
        return None
    device = getattr(here.names.value_of(name), "device", None)
    if device != clash.reference.device or call.func.attr.value not in ("to", "cuda"):
        return None
    return here.code(call)[len(here.code(call.func.value)) :]


def _named(here: RuleContext, culprit: Operand) -> cst.Name | None:
    """The name of a batch, host data, or a bundle: `x` in `x.view(-1, 784)`, `data` in `data.x`."""
    if culprit.since is None or culprit.since.verb not in (Verb.LOADED, *_MADE):
        return None
    site = culprit.site
    # A batch that is indexed may be a list; what was made here is a tensor.
    is_made = culprit.since.verb in _MADE
    while isinstance(site, (cst.Attribute, cst.Call)) or (
        is_made and isinstance(site, cst.Subscript)
    ):
        site = site.func if isinstance(site, cst.Call) else site.value
    if not isinstance(site, cst.Name):
        return None
    if isinstance(here.names.value_of(site), TensorDict) and is_held_elsewhere(here, site):
        return None
    is_itself = site is culprit.site
    return site if is_itself or here.names.since_of(site) == culprit.since else None


def _move_in_place(here: RuleContext, clash: Clash, handed: str | None = None) -> Rewrite | None:
    site = clash.culprit.site
    context = here.where_made(site) or here
    move = _move(context, clash, handed, site)
    if moves_parts(here, clash.culprit.value, clash.culprit.since):
        return move_parts(here, site, clash.culprit.since, move)
    if move is None or isinstance(site, _DISPLAYS) or not has_move(here.names.value_of(site)):
        return None
    if site is clash.reference.site:
        return None  # They are parts of what stands there.
    target = _written_to(here, _node(site))
    if target is None:
        change: Change = InsertAfter(_node(site), move)
        return Rewrite(f"Move {quoted(here, site)} with `{move}`", (change,))
    is_assigned = isinstance(here.source.parent_of(target), cst.AugAssign)
    if isinstance(target, cst.Name) and not is_assigned:
        return None  # Whoever else holds the tensor would not see what is written into another.
    content = f"{here.code(target)} = {here.code(target)}{move}"
    change = InsertStatement(_node(site), content, "before")
    return Rewrite(f"Move {quoted(here, target)} with `{move}`", (change,))


def _written_to(here: RuleContext, site: cst.CSTNode) -> cst.CSTNode | None:
    """What the statement writes into, which is moved before it; None where it writes nothing.

    `total += x` assigns, which a call cannot be, and `self.seen[k].add_(x)` would change a copy.
    """
    parent = here.source.parent_of(site)
    if isinstance(parent, cst.AugAssign) and parent.target is site:
        return site
    if not _is_changed_by(parent):
        return None
    while isinstance(site, cst.Call) and _is_changed_by(site.func):
        assert isinstance(site.func, cst.Attribute)
        site = site.func.value
    return site


def _is_changed_by(node: cst.CSTNode | None) -> bool:
    """Whether a tensor is changed in place by the method that is looked up on it."""
    name = node.attr.value if isinstance(node, cst.Attribute) else ""
    return name.endswith("_") and not name.startswith("_")


def _move_on_the_way(context: RuleContext, clash: Clash) -> Rewrite | None:
    """`self.model(batch.to(self.device))`, where that is known, and not where `batch` is made."""
    for place, site in context.handed_on(clash):
        spelled = place.moves.spelling(clash.reference.device)
        if spelled is not None and isinstance(site, cst.Name) and has_move(clash.culprit.value):
            move = f".to({spelled})"
            return Rewrite(f"Move {quoted(place, site)} with `{move}`", (InsertAfter(site, move),))
    return None


_DISPLAYS = (cst.BaseDict, cst.BaseList, cst.BaseSet, cst.Tuple)


def _node(site: Site) -> cst.CSTNode:
    assert isinstance(site, cst.CSTNode)
    return site
