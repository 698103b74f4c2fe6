"""Conditions about devices that cannot come out as they were meant."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devicelint.domain.api_events import QuestionNotAsked
from devicelint.domain.events import DeviceCompared, IndexTested
from devicelint.finding import Severity
from devicelint.fixes import Change, InsertAfter, Replace, Rewrite, WrapInCall
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class DeviceComparedWithString(Rule):
    """A `torch.device` never equals a string; GPU 0 is false; a function is true."""

    code = "DEV405"
    name = "device-compared-with-string"
    severity = Severity.ERROR
    summary = (
        "A condition compares a device with a string, or is a GPU index or an uncalled function"
    )
    unfixed = "the right comparison is not known"

    def on_device_compared(self, event: DeviceCompared, context: RuleContext) -> Reports:
        """`device == "cuda"` is always False, `device != "cuda"` always True."""
        assert isinstance(event.device_site, cst.CSTNode)
        if _is_without_effect(context, event):
            return
        device = clashes.quoted(context, event.device_site)
        wrong = f"which never equals a string: this is always {event.operator in ('!=', 'not in')}"
        if event.searched:
            wrong = "not a string: `in` raises TypeError"
        change = _compare_text(context, event)
        yield Report(
            event.site,
            f"{device} is a torch.device, {wrong}; compare {device[:-1]}.type` instead",
            fix=None if change is None else Rewrite("Compare strings", (change,)),
            anywhere=True,
        )

    def on_index_tested(self, event: IndexTested, context: RuleContext) -> Reports:
        """The index of the first GPU is 0, which is false."""
        assert isinstance(event.site, cst.CSTNode)
        index = clashes.quoted(context, event.site)
        yield Report(
            event.site,
            f"{index} is a device index, and the index of the first GPU is 0, which is false; "
            f"test {index[:-1]} {event.given}` instead",
            fix=Rewrite(f"Test `{event.given}`", (_ask(context, event.site, event.given),)),
            anywhere=True,
        )

    def on_question_not_asked(self, event: QuestionNotAsked, context: RuleContext) -> Reports:
        """A function that is not called is true on every machine."""
        assert isinstance(event.site, cst.CSTNode)
        question = clashes.quoted(context, event.site)
        yield Report(
            event.site,
            f"{question} is a function, which is always true: call it",
            fix=Rewrite(f"Call `{event.name}()`", (InsertAfter(event.site, "()"),)),
            anywhere=True,
        )


def _is_without_effect(context: RuleContext, event: DeviceCompared) -> bool:
    """`if x.device != "cpu": x = x.to("cpu")`: what lies there already stays as it is."""
    node = event.site
    if event.operator not in ("!=", "not in") or not isinstance(node, cst.CSTNode):
        return False
    match context.source.parent_of(node):
        case cst.If(test=test, body=cst.IndentedBlock(body=body), orelse=None):
            lines = [one for one in body if isinstance(one, cst.SimpleStatementLine)]
            moves = [getattr(one, "value", None) for line in lines for one in line.body]
            return test is node and len(lines) == len(body) and _all_go(moves, event.text)
        case cst.IfExp(test=test, body=body):
            return test is node and _all_go([body], event.text)
        case _:
            return False


def _all_go(values: Sequence[object], device: str) -> bool:
    """Whether each of some values is moved to a device, and that is all."""
    return all(_goes(one, device) for one in values)


def _goes(value: object, device: str) -> bool:
    match value:
        case cst.Call(func=cst.Attribute(attr=cst.Name("to")), args=[given, *_]):
            return isinstance(given.value, cst.SimpleString) and given.value.raw_value == device
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)), args=[]):
            return name == device
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return _all_go([one.value for one in elements], device)
        case cst.ListComp(elt=moved) | cst.GeneratorExp(elt=moved) | cst.DictComp(value=moved):
            return _goes(moved, device)
        case _:
            return False


def _compare_text(context: RuleContext, event: DeviceCompared) -> Change | None:
    """A type is compared with the type, a name with an index as a device or as text."""
    device, other = event.device_site, event.other_site
    assert isinstance(device, cst.CSTNode)
    assert isinstance(other, cst.CSTNode)
    is_written = isinstance(other, cst.SimpleString) or event.operator not in ("==", "!=")
    if is_written and ":" not in event.text:
        return InsertAfter(device, ".type")
    if event.operator in ("==", "!="):
        make = context.names.name_of("torch.device")
        return None if make is None else WrapInCall(other, make)
    return WrapInCall(device, "str")


def _ask(context: RuleContext, site: cst.CSTNode, given: str) -> Change:
    """`if index:` → `if index is not None:`; `index or 0` → `index if index is not None else 0`."""
    index = context.code(site)
    parent = context.source.parent_of(site)
    if isinstance(parent, cst.UnaryOperation):
        absent = {"is not None": "is None", ">= 0": "< 0"}[given]
        return Replace(parent, f"{index} {absent}")
    if isinstance(parent, cst.BooleanOperation) and isinstance(parent.operator, cst.Or):
        around = context.source.parent_of(parent)
        if parent.left is site and not isinstance(around, (cst.If, cst.While, cst.Assert)):
            choice = f"{index} if {index} {given} else {context.code(parent.right)}"
            alone = isinstance(around, (cst.Assign, cst.Arg, cst.Return)) or parent.lpar
            return Replace(parent, choice if alone and not parent.lpar else f"({choice})")
    return InsertAfter(site, f" {given}")
