from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import agreement
from devicelint.domain.events import DevicelessMoved
from devicelint.finding import Severity
from devicelint.fixes import Change, InsertStatement, Keep, RemoveStatement, Rewrite
from devicelint.interpreter.scene import Scene
from devicelint.rules._base import Report, Reports, Rule
from devicelint.domain.devices import Agreement


class OptimizerMoved(Rule):
    """An optimizer, scheduler, DataLoader, Dataset or `parameters()` has no `.to()`."""

    code = "DEV301"
    name = "optimizer-moved"
    severity = Severity.ERROR
    summary = "Optimizers, schedulers, DataLoaders, datasets and parameters() cannot be moved"

    def on_deviceless_moved(self, event: DevicelessMoved, scene: Scene) -> Reports:
        """It raises AttributeError; where the model is still elsewhere, that is what was meant."""
        article = "an" if event.kind[0] in "aeiou" else "a"
        advice = _ADVICE.get(event.kind, "it works on the parameters where they are")
        assert isinstance(event.site, cst.CSTNode)
        yield Report(
            event.site,
            f"{article} {event.kind} has no .{event.method}(): {advice}",
            fix=_remove(scene, event),
            anywhere=True,
        )


_ADVICE = {
    "optimizer": "it works on the parameters where they are; move the model instead",
    "DataLoader": "move each batch that it yields instead",
    "dataset": "move each batch instead",
    "parameters() generator": "move the module itself",
}


def _remove(scene: Scene, event: DevicelessMoved) -> Rewrite | None:
    assert isinstance(event.site, cst.Call)
    assert isinstance(event.receiver_site, cst.CSTNode)
    if event.kind == "parameters() generator":
        return None
    changes: list[Change] = []
    if scene.is_statement(event.site):
        statement = scene.statement
        assert isinstance(statement, cst.CSTNode)
        changes.append(RemoveStatement(statement))
    else:
        changes.append(Keep(event.site, event.receiver_site))
    changes.extend(_move_model(scene, event))
    return Rewrite(f"Remove `.{event.method}()`", tuple(changes))


def _move_model(scene: Scene, event: DevicelessMoved) -> list[Change]:
    """Where the model is still elsewhere, `model.to(…)` goes before the optimizer is built."""
    model = event.model
    if model is None or event.target is None or event.kind != "optimizer":
        return []
    if agreement(model.device, event.target) is not Agreement.DIFFERENT:
        return []
    statement = scene.statement
    if not isinstance(statement, cst.Assign) or not isinstance(model.site, cst.Name):
        return []
    assert isinstance(event.site, cst.Call)
    code, receiver = scene.code(event.site), scene.code(event.receiver_site)
    move = f"{model.site.value}{code[len(receiver) :]}"
    return [InsertStatement(statement, move, "before")]


