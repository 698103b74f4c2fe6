"""The note about pinned memory without asynchronous copies, and the reverse."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.events import Transfer
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import Batch, Loader, Tensor
from devicelint.finding import Safety, Severity
from devicelint.fixes import AddKeyword, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _transfers as transfers
from devicelint.rules._base import Report, Reports, Rule, line_of

_PIN_MEMORY = 7
"""Which argument of DataLoader it is, where it is given without its name."""


class BlockingCopy(Rule):
    """Pinned memory without `non_blocking=True`, or `non_blocking=True` without pinned memory."""

    code = "DEV603"
    name = "blocking-copy"
    severity = Severity.NOTE
    summary = "`pin_memory=True` and `non_blocking=True` only help together"
    default = False
    adopts = True

    def on_transfer(self, event: Transfer, context: RuleContext) -> Reports:
        """What a loader yields goes to an accelerator."""
        receiver = event.receiver
        if not isinstance(receiver, (Tensor, Batch)) or receiver.since.verb is not Verb.LOADED:
            return
        if event.method not in ("to", "cuda") or not transfers.goes_to_accelerator(event.target):
            return
        loader = _loader(receiver.since, context)
        asked = _asks_not_to_block(transfers.call_of(event))
        if loader is None or asked is None or receiver.device != CPU:
            return
        if receiver.since.pinned and not asked:
            yield _report_waiting(event, loader, context)
        elif asked and _is_never_pinned(loader):
            yield _report_unpinned(event, loader, context)


def _report_waiting(event: Transfer, loader: cst.Call, context: RuleContext) -> Report:
    return Report(
        event.site,
        f"{clashes.quoted(context, event.site)} waits for the copy, although the DataLoader pins "
        f"its memory (line {line_of(0)}): pass non_blocking=True to let the host continue",
        ((loader, "pins its batches"),),
        fix=Rewrite(
            "Add `non_blocking=True`",
            (AddKeyword(transfers.call_of(event), "non_blocking", "True"),),
        ),
    )


def _report_unpinned(event: Transfer, loader: cst.Call, context: RuleContext) -> Report:
    change = AddKeyword(loader, "pin_memory", "True")
    return Report(
        event.site,
        f"non_blocking=True has no effect in {clashes.quoted(context, event.site)}: the DataLoader "
        f"does not pin its memory (line {line_of(0)}), so the host waits for the copy",
        ((loader, "does not pin its batches"),),
        fix=Rewrite(
            "Add `pin_memory=True` to the DataLoader, which then uses page-locked memory",
            (change,),
            Safety.UNSAFE,
        ),
    )


def _loader(since: Step, context: RuleContext) -> cst.Call | None:
    """The DataLoader over which the loop goes, where a name there holds it."""
    bound = context.source.bound_by(since.site)
    waiting: list[Site] = [bound.iter if isinstance(bound, cst.For) else since.site]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (cst.Name, cst.Attribute)):
            value = context.names.value_of(node)
            if isinstance(value, Loader) and isinstance(value.site, cst.Call):
                return value.site
        if isinstance(node, cst.CSTNode):
            waiting.extend(node.children)
    return None


def _asks_not_to_block(call: cst.Call) -> bool | None:
    """What `non_blocking` is; None where that cannot be read."""
    given = [one for one in call.args if one.keyword is None]
    if any(one.star for one in call.args):
        return None
    named = [one for one in call.args if one.keyword and one.keyword.value == "non_blocking"]
    said = [one.value for one in (*named, *given) if _is_truth(one.value)]
    if said:
        return any(isinstance(one, cst.Name) and one.value == "True" for one in said)
    return None if named or len(given) > 1 else False


def _is_truth(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Name) and value.value in ("True", "False")


def _is_never_pinned(loader: cst.Call) -> bool:
    if any(one.star for one in loader.args):
        return False
    words = {one.keyword.value: one.value for one in loader.args if one.keyword is not None}
    positional = sum(one.keyword is None for one in loader.args)
    given = words.get("pin_memory")
    is_off = isinstance(given, cst.Name) and given.value == "False"
    return positional <= _PIN_MEMORY and (given is None or is_off)
