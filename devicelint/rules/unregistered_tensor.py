from __future__ import annotations

import libcst as cst

from devicelint.domain.events import Clash, MisplacedInput, MixedOperation
from devicelint.domain.values import Keeper, Tensor
from devicelint.finding import Safety, Severity
from devicelint.fixes import Replace, Rewrite
from devicelint.interpreter.scene import Scene
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class UnregisteredTensor(Rule):
    """A plain tensor attribute of a Module does not follow `.to()`."""

    code = "DEV106"
    name = "unregistered-tensor"
    severity = Severity.ERROR
    summary = "A plain tensor attribute of a Module does not follow .to()"

    def on_mixed_operation(self, event: MixedOperation, scene: Scene) -> Reports:
        """The attribute is an operand."""
        yield from self._reports(event.clash, scene)

    def on_misplaced_input(self, event: MisplacedInput, scene: Scene) -> Reports:
        """The attribute is given to a submodule."""
        yield from self._reports(event.clash, scene)

    def _reports(self, clash: Clash, scene: Scene) -> Reports:
        value = clash.culprit.value
        kept = value.kept if isinstance(value, Tensor) else None
        if kept is None:
            return
        yield Report(
            kept.site,
            f"self.{kept.attribute} of {kept.owner} is a plain tensor, which .to() does not move: it "
            f"is still on {clashes.place(clash.culprit)} where it meets "
            f"{clashes.quoted(scene, clash.reference.site)} on {clashes.place(clash.reference)} "
            f"(line {clashes.line_of(0)}){clashes.condition(clash)}; register it as a buffer",
            ((clash.failing, "fails here"), *clashes.history(clash.reference)),
            clashes.severity(clash),
            clashes.certainty(clash),
            _register(scene, kept),
        )


def _register(scene: Scene, kept: Keeper) -> Rewrite | None:
    """`register_buffer` changes what `named_buffers()` gives, and copies what was shared."""
    assignment = scene.assignment_to(kept.site)
    if not isinstance(assignment, cst.Assign) or len(assignment.targets) != 1:
        return None
    value = scene.code(assignment.value)
    call = f'self.register_buffer("{kept.attribute}", {value}, persistent=False)'
    return Rewrite("Register it as a buffer", (Replace(assignment, call),), Safety.UNSAFE)
