"""The result of a move is thrown away."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    Agreement,
    Device,
    DeviceOf,
    Known,
    Opaque,
    Unsure,
    agreement,
)
from devicelint.domain.events import DiscardedTransfer, Operand, Transfer
from devicelint.domain.history import Site, Verb
from devicelint.domain.values import Batch, Tensor, TensorDict, Value
from devicelint.finding import Safety, Severity
from devicelint.fixes import InsertBefore, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule

_FROM_DATA = ("tensor", "as_tensor", "asarray", "Tensor", "FloatTensor", "LongTensor")


class DiscardedMove(Rule):
    """The result of moving a tensor is discarded."""

    code = "DEV104"
    name = "discarded-move"
    severity = Severity.ERROR
    summary = "The result of `.to()`, `.cuda()` or `.cpu()` on a tensor is discarded"
    unfixed = "there is no name to assign the result to"

    def on_discarded_transfer(self, event: DiscardedTransfer, context: RuleContext) -> Reports:
        """A tensor is copied, not moved; modules and some containers move in place."""
        transfer = event.transfer
        receiver, source, target = transfer.receiver, transfer.origin, transfer.target
        what = _copied(receiver)
        if what is None or target is None or source is None or transfer.result == receiver:
            return
        if not _goes_elsewhere(source, target):
            return
        if context.intent.is_tried() or _wakes_the_device(context, transfer):
            return
        yield Report(
            transfer.site,
            f"{clashes.quoted(context, transfer.receiver_site)} stays {_where(source)}: "
            f".{transfer.method}() returns a copy of a {what}, and this copy {_where(target)} "
            f"is discarded",
            _history(transfer),
            fix=_assign(context, event),
        )


def _copied(receiver: Value) -> str | None:
    """What is copied by a move, and not moved in place."""
    if isinstance(receiver, TensorDict):
        return "graph"
    if isinstance(receiver, Tensor) or (isinstance(receiver, Batch) and not receiver.whole):
        return "tensor"
    return None


def _history(transfer: Transfer) -> tuple[tuple[Site, str], ...]:
    receiver = transfer.receiver
    if not isinstance(receiver, (Tensor, Batch)):
        return ()
    if receiver.since.site is transfer.receiver_site:
        return ()
    operand = Operand(transfer.receiver_site, receiver, receiver.device, receiver.since)
    return clashes.history(operand)


def _goes_elsewhere(source: Device, target: Device) -> bool:
    """Not from `cuda` to `cuda:0`, which may be the same."""
    both_known = isinstance(source, Known) and isinstance(target, Known)
    return not both_known or agreement(source, target) is Agreement.DIFFERENT


def _where(device: Device) -> str:
    match device:
        case Known():
            return "on the CPU" if device == CPU else f"on {device}"
        case Opaque(origin):
            return f"on `{origin}`"
        case DeviceOf(place):
            return f"on the device of `{place}`"
        case Unsure():
            return "where it is"


def _wakes_the_device(context: RuleContext, transfer: Transfer) -> bool:
    """`torch.zeros(1).cuda()` initializes CUDA: new data of no importance, moved nowhere."""
    receiver, site = transfer.receiver, transfer.receiver_site
    if not isinstance(receiver, Tensor) or not isinstance(site, cst.Call):
        return False
    if receiver.since.verb is not Verb.CREATED or receiver.since.site is not site:
        return False
    data = site.args[0].value if site.args else None
    takes_data = context.code(site.func).rpartition(".")[2] in _FROM_DATA
    return not (takes_data and isinstance(data, (cst.Name, cst.Attribute, cst.Subscript)))


def _assign(context: RuleContext, event: DiscardedTransfer) -> Rewrite | None:
    """Assigning helps where the place is read again, and holds what it is given as it is."""
    receiver, value = event.transfer.receiver_site, event.transfer.receiver
    statement = event.statement
    assert isinstance(statement, cst.CSTNode)
    if not isinstance(receiver, (cst.Name, cst.Attribute, cst.Subscript)):
        return None
    if isinstance(value, Tensor) and value.role in ("parameter", "leaf"):
        return None
    if isinstance(receiver, cst.Name) and not context.source.reads_again(receiver, statement):
        return None
    if isinstance(receiver, cst.Subscript) and not context.names.holds_items(receiver):
        return None
    code = context.code(receiver)
    change = InsertBefore(statement, f"{code} = ")
    other = context.names.foreign_user_of(receiver)
    if other is None:
        return Rewrite(f"Assign it to `{code}`", (change,))
    message = f"Assign it to `{code}`, so that {context.code(other)}() gets it on another device"
    return Rewrite(message, (change,), Safety.UNSAFE)
