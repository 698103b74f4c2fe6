"""The rule about `.to()` on what has no device."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, Agreement, Known, agreement, is_accelerator
from devicelint.domain.events import DevicelessMoved, Operand
from devicelint.domain.values import Module, Placed
from devicelint.finding import Severity
from devicelint.fixes import (
    Change,
    DefineDevice,
    InsertStatement,
    Keep,
    RemoveStatement,
    Replace,
    Rewrite,
)
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._base import Report, Reports, Rule

PARAMETERS = "parameters() generator"
ARRAY = "NumPy array"


class OptimizerMoved(Rule):
    """An optimizer, scheduler, DataLoader, Dataset or `parameters()` has no `.to()`."""

    code = "DEV301"
    name = "optimizer-moved"
    severity = Severity.ERROR
    summary = "Optimizers, DataLoaders, datasets, arrays and `parameters()` have no `.to()`"
    unfixed = "the model or tensor to move instead is not visible here"

    def on_deviceless_moved(self, event: DevicelessMoved, context: RuleContext) -> Reports:
        """It raises AttributeError; where the model is still elsewhere, that is what was meant."""
        article = "an" if event.kind[0] in "aeiou" else "a"
        advice = _ADVICE.get(event.kind, "it only changes the optimizer's settings")
        assert isinstance(event.site, cst.CSTNode)
        yield Report(
            event.site,
            f"{article} {event.kind} has no .{event.method}(): {advice}",
            fix=_fix(context, event),
            anywhere=True,
        )


_ADVICE = {
    "optimizer": "it updates the parameters where they are; move the model instead",
    "DataLoader": "move each batch that it yields instead",
    "dataset": "move each batch instead",
    PARAMETERS: "move the module itself",
    ARRAY: "it is on the CPU; convert it with torch.from_numpy() to move it",
}


def _fix(context: RuleContext, event: DevicelessMoved) -> Rewrite | None:
    """Without the call; with one of the model, where the model is not there yet."""
    if event.kind == ARRAY and event.method != "cpu":
        return None
    statement, model = context.statement, event.model
    assert isinstance(statement, cst.CSTNode)
    assert isinstance(event.site, cst.CSTNode)
    if model is None or not _is_dotted_name(model.site):
        return Rewrite(f"Remove `.{event.method}()`", (_removal(context, event),))
    move, define = _move(context, event, model)
    if event.kind == PARAMETERS and _is_all(context, event):
        return Rewrite(f"Move the module: `{move}`", (*define, Replace(statement, move)))
    removal = _removal(context, event)
    if _is_there(event, model):
        return Rewrite(f"Remove `.{event.method}()`", (removal,))
    message = f"Move the model instead: `{move}`"
    if context.source.is_statement(event.site):
        return Rewrite(message, (*define, Replace(statement, move)))
    return Rewrite(message, (*define, removal, InsertStatement(event.site, move, "before")))


def _removal(context: RuleContext, event: DevicelessMoved) -> Change:
    statement, receiver = context.statement, event.receiver_site
    assert isinstance(statement, cst.CSTNode)
    assert isinstance(event.site, cst.Call)
    assert isinstance(receiver, cst.BaseExpression)
    if context.source.is_statement(event.site) or _assigns_itself(context, event):
        return RemoveStatement(statement)
    return Keep(event.site, receiver)


def _assigns_itself(context: RuleContext, event: DevicelessMoved) -> bool:
    """`optimizer = optimizer.to(device)`."""
    statement = context.statement
    return (
        isinstance(statement, cst.Assign)
        and statement.value is event.site
        and len(statement.targets) == 1
        and context.code(statement.targets[0].target) == context.code(event.receiver_site)
    )


def _is_all(context: RuleContext, event: DevicelessMoved) -> bool:
    """`model.parameters().cpu()` as a statement, or put in the place of the method itself."""
    statement, receiver = context.statement, event.receiver_site
    if context.source.is_statement(event.site):
        return True
    if not isinstance(statement, cst.Assign) or statement.value is not event.site:
        return False
    target = statement.targets[0].target
    return isinstance(receiver, cst.Call) and context.code(target) == context.code(receiver.func)


def _move(
    context: RuleContext, event: DevicelessMoved, model: Operand
) -> tuple[str, tuple[DefineDevice, ...]]:
    """`model.to(…)`, as the optimizer or the parameters were to be moved.

    A hard-coded accelerator becomes the device of the file, which may have to be defined.
    """
    name, target, site = context.code(model.site), event.target, event.site
    assert isinstance(site, cst.Call)
    if not (isinstance(target, Known) and is_accelerator(target) and _is_written_out(site)):
        code, receiver = context.code(site), context.code(event.receiver_site)
        return f"{name}{code[len(receiver) :]}", ()
    at_hand = context.names.devices_at_hand(site, site, target) or ()
    chosen = next((one.code for one in at_hand if one.literal is None), None)
    if chosen is not None:
        return f"{name}.to({chosen})", ()
    new = context.names.free_name(("device", "torch_device"), site, site) or "device"
    return f"{name}.to({new})", (DefineDevice(new, str(target)),)


def _is_written_out(call: cst.Call) -> bool:
    """`.cuda()`, `.to("cuda")`: whether the code spells the device here."""
    return all(isinstance(one.value, (cst.SimpleString, cst.Integer)) for one in call.args)


def _is_dotted_name(site: object) -> bool:
    while isinstance(site, cst.Attribute):
        site = site.value
    return isinstance(site, cst.Name)


def _is_there(event: DevicelessMoved, model: Operand) -> bool:
    """Whether the model is where the move goes already; one that nothing moves is not."""
    if event.target is None:
        return True
    if not isinstance(model.value, (Module, Placed)):
        return event.target == CPU
    return agreement(model.device, event.target) not in (
        Agreement.DIFFERENT,
        Agreement.DIFFERENT_UNLESS_CHOSEN,
    )
