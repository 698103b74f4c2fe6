"""Applying a device signature to the arguments of a call."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import libcst as cst

from devicelint.domain.alternatives import either_known
from devicelint.domain.devices import CPU, Unsure, agreement
from devicelint.domain.events import Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    ARRAY,
    HOST,
    NONE,
    Array,
    Batch,
    Const,
    HostValue,
    Placed,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.cases import call_with_each, mixed_among
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.learning import note_called_with
from devicelint.interpreter.facts.tensor_parameters import (
    as_on_host,
    as_proven,
    prove,
)
from devicelint.interpreter.python.unseen import taken_for_tensor
from devicelint.interpreter.torch.devices.arguments import asked_for
from devicelint.interpreter.torch.host_reads import demand_on_host
from devicelint.interpreter.torch.operations.application import Application, OperandGroup
from devicelint.interpreter.torch.operations.created import created
from devicelint.interpreter.torch.operations.excuses import DIFFERENT
from devicelint.interpreter.torch.operations.hard_coded import note_met
from devicelint.interpreter.torch.operations.kept import note_kept
from devicelint.interpreter.torch.operations.meetings import note_meeting
from devicelint.interpreter.torch.operations.operand_values import operand_values
from devicelint.interpreter.torch.operations.operands import (
    common_device,
    computed,
    find_clash,
    grad_of_operands,
    operand_of,
)
from devicelint.interpreter.torch.operations.reports import report_clash
from devicelint.interpreter.torch.processes.ranks import (
    dimension_given,
    dimensions_left,
    dimensions_of,
    elementwise,
    rank_of,
    take_size,
)
from devicelint.interpreter.torch.random import draw
from devicelint.knowledge import CPU as CPU_GROUP
from devicelint.knowledge import DEVICE, Form, Result, Role, Signature, Slot


def apply_signature(
    run: Run,
    signature: Signature,
    arguments: Arguments,
    site: cst.Call,
    *,
    name: str = "",
    owner: Operand | None = None,
) -> Value:
    """Check that operands share a device, and give the result; `owner` is the module's own."""
    several = mixed_among(arguments)
    if several is not None:
        apply = partial(apply_signature, run, signature, site=site, name=name, owner=owner)
        return call_with_each(run, several, arguments, apply)
    application = _sorted_by_slots(run, signature, arguments, site, owner)
    _check(run, application, name or signature.name)
    out = arguments.keywords.get("out")
    if out is not None and isinstance(out.value, Tensor):
        return out.value
    given = len(arguments.positional), tuple(arguments.keywords)
    result = application.as_asked(signature.result_of(*given, is_open=arguments.open))
    if result.form not in _WITHOUT_TENSORS:
        application.left = dimensions_left(signature, arguments)
    made = _made(run, application, result, dimension_given(signature, arguments))
    draw(run, application.generator, made, name or signature.name, site)
    return made


def _made(run: Run, application: Application, result: Result, dimension: Value | None) -> Value:
    """`max(x, 1)` gives two, `max(x, y)` one; where it is not known which, either."""
    match dimension:
        case None | Const() | HostValue() | Array():
            return _make(run, application, result)
        case Tensor() | Batch() | Placed():
            return _make(run, application, elementwise(result))
        case _:
            one = _make(run, application, elementwise(result))
            return either_known(one, _make(run, application, result))


_WITHOUT_TENSORS = (Form.HOST, Form.ARRAY, Form.NONE, Form.SELF, Form.ANY, Form.TRANSFER)


def _sorted_by_slots(
    run: Run, signature: Signature, arguments: Arguments, site: cst.Call, owner: Operand | None
) -> Application:
    receiver = arguments.positional[0].value if arguments.positional else None
    application = Application(signature, site, receiver=receiver)
    if owner is not None and signature.owns is not None:
        application.group(signature.owns).operands.append((owner, False))
    slots = signature.slots(len(arguments.positional), tuple(arguments.keywords))
    for argument, slot in zip(arguments, slots, strict=False):
        if slot is not None:
            _take(run, application, argument, slot)
    dtype = arguments.keywords.get("dtype")
    application.dtype = None if dtype is None else dtype.value
    asked = arguments.keywords.get("requires_grad")
    application.may_state = arguments.may_name and "device" not in arguments.keywords
    application.asks_grad = asked is not None and asked.value == Const(True)
    return application


def _take(run: Run, application: Application, argument: Argument, slot: Slot) -> None:
    value = argument.value
    match slot.role:
        case Role.OPERAND | Role.FREE:
            _take_operand(run, application, argument, slot)
        case Role.INDEX:
            operand = operand_of(value, argument.site)
            if operand is not None:
                application.indices.append((slot.group or "", operand))
        case Role.DEVICE if value != NONE:
            application.device = asked_for(run, argument, application.site)
        case Role.SIZE:
            is_part = slot is application.signature.star_slot
            take_size(run, application, argument, is_part=is_part)
        case Role.DATA:
            application.data = as_on_host(run, value)
        case Role.GENERATOR:
            application.generator = argument
        case Role.VARIES | Role.ADDS | Role.GIVES:
            _take_flag(application, value, slot)
        case _:
            pass


def _take_flag(application: Application, value: Value, slot: Slot) -> None:
    if slot.brings is None or not isinstance(value, Const):
        application.varies = application.varies or value not in (NONE, Const(False))
    elif bool(value.value):
        application.flags.append(slot)


def _take_operand(run: Run, application: Application, argument: Argument, slot: Slot) -> None:
    if slot.group is None:
        return
    group = application.group(slot.group)
    group.may_differ = group.may_differ or slot.role is Role.FREE
    for site, given in operand_values(run, argument, slot):
        may_be_number = slot.scalar_excused or slot.may_be_number
        value = given if may_be_number else _taken_for_a_tensor(run, given)
        operand = operand_of(value, site)
        if operand is not None:
            group.operands.append((operand, slot.scalar_excused))
        elif isinstance(value, (Unknown, Array)):
            group.unknown = True


def _taken_for_a_tensor(run: Run, value: Value) -> Value:
    """What comes from outside is a tensor, where nothing else can be given."""
    if isinstance(value, Unknown):
        return taken_for_tensor(run, value)
    if not isinstance(value, Symbolic) or value.since is None:
        return value
    prove(run, value.origin)
    return as_proven(run, value)


def _check(run: Run, application: Application, name: str) -> None:
    note_called_with(run, name, application.operands)
    for key, group in application.groups.items():
        if key == CPU_GROUP:
            demand_on_host(run, group.plain, name, application.site)
            continue
        brought = application.device is not None and key == application.signature.device_default
        pair = None if group.may_differ or brought else find_clash(group.operands)
        if pair is not None:
            in_place = application.signature.result.form is Form.SELF
            report_clash(run, application.site, name, pair, in_place=in_place)
        elif not (group.may_differ or brought):
            note_met(run, application.site, name, group.plain)
            note_kept(run, application.site, name, group.plain)
            note_meeting(run, application.site, group.operands)
    for key, index in application.indices:
        base = application.group(key).plain
        if base and base[0].device == CPU and agreement(CPU, index.device) in DIFFERENT:
            report_clash(run, application.site, name, (base[0], index), index=True)


def _make(run: Run, application: Application, result: Result) -> Value:
    if application.varies:
        return Unknown(f"what {application.signature.name} gives depends on an option")
    match result.form:
        case Form.HOST:
            return HOST
        case Form.ARRAY:
            return ARRAY
        case Form.NONE:
            return NONE
        case Form.SELF:
            return _itself(application)
        case Form.TUPLE:
            return Tuple(tuple(_make(run, application, item) for item in result.items))
        case Form.LIST:
            return Stream(_make(run, application, result.items[0]))
        case Form.ANY | Form.TRANSFER:
            return Unknown(f"the result of {application.signature.name}")
        case _:
            made, least = _tensor(run, application, result), dimensions_of(run, application, result)
            return replace(made, least=least) if least > 1 else made


def _itself(application: Application) -> Value:
    receiver = application.receiver
    return Unknown("the receiver itself") if receiver is None else receiver


def _tensor(run: Run, application: Application, result: Result) -> Tensor:
    site = application.site
    if result.group == CPU_GROUP:
        run.note_made(site)
        return Tensor(CPU, Step(Verb.CONVERTED, site, CPU), rank_of(application, result), False)
    if result.group == DEVICE:
        return created(run, application, result)
    group = application.groups.get(result.group or "", OperandGroup())
    device, since = common_device(group.plain, unknown=group.unknown)
    only_outside = bool(group.operands) and all(
        isinstance(operand.value, Symbolic) for operand in group.plain
    )
    if only_outside and group.unknown:
        device = Unsure("operands come from outside")
    return Tensor(
        device,
        computed(site, device, since),
        rank_of(application, result),
        _grad(run, group, result),
    )


def _grad(run: Run, group: OperandGroup, result: Result) -> bool | None:
    if result.no_grad or run.no_grad:
        return False
    return grad_of_operands(group.plain, unknown=group.unknown)
