"""What the rules about reading tensors on the host share."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import DeviceOf, Opaque
from devicelint.domain.events import HostRead
from devicelint.finding import Certainty, Severity
from devicelint.fixes import InsertAfter, Replace, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report

NUMPY = ".numpy()"


def copy(event: HostRead) -> str:
    """What brings the tensor to the CPU; what is read is detached unless it needs no grad."""
    return ".cpu()" if event.is_sent or event.requires_grad is False else ".detach().cpu()"


def report(context: RuleContext, event: HostRead, problem: str) -> Report:
    """The finding: a warning where the device is somebody's choice, which may be the CPU."""
    operand = event.operand
    received = isinstance(operand.device, DeviceOf)
    chosen = received or isinstance(operand.device, Opaque)
    noun = "holds tensors on" if event.elements else "is on"
    condition = " (unless that is the CPU)" if received else ""
    if isinstance(operand.device, Opaque):
        condition = f" (unless `{operand.device}` is the CPU)"
    each = " on each" if event.elements else ""
    return Report(
        operand.site,
        f"{clashes.quoted(context, operand.site)} {noun} {clashes.place(operand)}"
        f"{clashes.since(operand, 0)}{condition}, but {problem}: call {copy(event)}{each} first",
        clashes.history(operand),
        severity=Severity.WARNING if chosen else None,
        certainty=Certainty.CONTRACT if received else Certainty.CERTAIN,
        fix=insert_copy(context, event),
    )


def insert_copy(context: RuleContext, event: HostRead) -> Rewrite | None:
    """Copy to the CPU right before it is read; of a list, every element."""
    site, text = event.operand.site, copy(event)
    assert isinstance(site, cst.CSTNode)
    if site is event.site:
        return None
    if not event.elements:
        return Rewrite(f"Insert `{text}`", (InsertAfter(site, text),))
    if not isinstance(site, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
        return None
    copied = f"[each{text} for each in {context.code(site)}]"
    return Rewrite(f"Call `{text}` on each element", (Replace(site, copied),))
