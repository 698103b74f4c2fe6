"""The note about tensors that are made on the CPU, to be copied at once."""

from __future__ import annotations

import re

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.events import Transfer
from devicelint.domain.history import Verb
from devicelint.domain.values import Tensor
from devicelint.finding import Safety, Severity
from devicelint.fixes import AddKeyword, Keep, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _move_fixes as moving
from devicelint.rules import _transfers as transfers
from devicelint.rules._base import Report, Reports, Rule

_RANDOM = re.compile(r"\b(rand|randn|randint|randperm|normal|bernoulli)$")
_IN_THE_WAY = ("device", "out", "pin_memory", "generator")


class CreateThenMove(Rule):
    """A tensor is created on the CPU and copied to the accelerator in one expression."""

    code = "DEV601"
    name = "create-then-move"
    severity = Severity.NOTE
    summary = "A tensor is created on the CPU and copied at once; pass `device=` instead"
    default = False

    def on_transfer(self, event: Transfer, context: RuleContext) -> Reports:
        """`torch.zeros(3).to(device)`."""
        made = event.receiver_site
        if not isinstance(made, cst.Call) or not _is_new(event, made):
            return
        if event.target is None or not transfers.goes_to_accelerator(event.target):
            return
        if context.source.is_statement(event.site):
            return
        yield Report(
            event.site,
            f"{clashes.quoted(context, made)} is created on the CPU, then copied to "
            f"{transfers.named(event.target)}: create it there with device=",
            fix=_create_there(event, made, context),
        )


def _is_new(event: Transfer, made: cst.Call) -> bool:
    """Whether a factory that takes device= was called without it, right here."""
    tensor = event.receiver
    if not isinstance(tensor, Tensor) or tensor.role or tensor.device != CPU:
        return False
    if tensor.since.verb is not Verb.CREATED or tensor.since.site is not made:
        return False
    words = [one.keyword.value for one in made.args if one.keyword is not None]
    is_open = any(one.star for one in made.args)
    return moving.takes_device(made) and not is_open and not set(words) & set(_IN_THE_WAY)


def _create_there(event: Transfer, made: cst.Call, context: RuleContext) -> Rewrite | None:
    """Random numbers come from the other generator then, and are others."""
    device = transfers.device_written(event, context)
    if device is None:
        return None
    is_random = _RANDOM.search(context.code(made.func)) is not None
    draws = ", which draws different random numbers" if is_random else ""
    return Rewrite(
        f"Create it with `device={device}`{draws}",
        (AddKeyword(made, "device", device), Keep(transfers.call_of(event), made)),
        Safety.UNSAFE if is_random else Safety.SAFE,
    )
