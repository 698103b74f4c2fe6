"""What the rules about an optimizer's state share: the report, and the move that comes too late."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Agreement, Device, Known
from devicelint.domain.training_events import OptimizerStateElsewhere
from devicelint.finding import FAILS_HERE, Severity
from devicelint.fixes import InsertStatement, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, line_of


def report(event: OptimizerStateElsewhere, context: RuleContext, what: str, advice: str) -> Report:
    """The state stays where the model was when it was made, and a step needs both together."""
    certain = event.agreement is Agreement.DIFFERENT
    condition = "" if certain else f" unless `{_chosen(event)}` is the CPU"
    return Report(
        event.made,
        f"{what} {_where(event.state)}, but the model moves to {clashes.place(event.model)} later "
        f"(line {line_of(0)}) and the state does not: step() fails{condition}; {advice}",
        (*clashes.history(event.model), (event.site, FAILS_HERE)),
        None if certain else Severity.WARNING,
        fix=_move_first(event, context),
    )


def _where(device: Device) -> str:
    if isinstance(device, Known):
        return "on the CPU" if device.type == "cpu" else f"on {device}"
    return f"on `{device}`"


def _chosen(event: OptimizerStateElsewhere) -> Device:
    return event.state if isinstance(event.model.device, Known) else event.model.device


def _move_first(event: OptimizerStateElsewhere, context: RuleContext) -> Rewrite | None:
    """The same move, before the state is made, where the device has a name there already."""
    made, model = event.made, event.model.site
    before = context.where_made(made)
    if not event.beside or before is None or not isinstance(model, (cst.Name, cst.Attribute)):
        return None
    device = before.moves.spelling(event.model.device)
    if device is None:
        return None
    assert isinstance(made, cst.CSTNode)
    move = f"{context.code(model)}.to({device})"
    return Rewrite(f"Move the model first: `{move}`", (InsertStatement(made, move),))
