"""Models that nobody sees, and that go where somebody chose: what is moved turns out to be one."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import Placed, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.hooks import EVERY_EVENT, Analysis, analysis
from devicelint.interpreter.torch.devices.handed import note_handed
from devicelint.interpreter.torch.devices.written_out import note_model
from devicelint.interpreter.torch.modules.unseen_models import STAYS


@analysis
class ChosenModels(Analysis):
    """Notes which of the moved values are called, or asked for what Modules have."""

    serves = EVERY_EVENT

    def on_called_unseen(self, callee: Value, arguments: Arguments, site: cst.Call) -> None:
        """The call of a model that was moved, of a method of Modules, or of what goes somewhere."""
        note_handed(self.run, arguments)
        subject = callee
        if isinstance(site.func, cst.Attribute) and site.func.attr.value in STAYS:
            with self.run.muted():
                subject = self.run.evaluate(site.func.value)
        if isinstance(subject, Placed) and isinstance(subject.since.site, cst.Call):
            note_model(self.run, subject.since.site)
