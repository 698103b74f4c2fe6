"""Modules that bring what one part gives to the device of another part."""

from __future__ import annotations

from devicelint.domain.api_events import PartMadeElsewhere
from devicelint.domain.devices import CPU
from devicelint.domain.events import Transfer
from devicelint.domain.history import Verb
from devicelint.domain.values import Module, Tensor
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.facts.movable import class_of

_NEW = (Verb.CREATED, Verb.CONVERTED)


@analysis
class MovedBetween(Analysis):
    """Notes the classes whose methods move what lies on the CPU and was not just made."""

    serves = frozenset({PartMadeElsewhere})

    def on_transfer(self, transfer: Transfer) -> None:
        """A part that stays on the CPU on purpose gives what is moved before others get it."""
        given = transfer.receiver
        if transfer.origin != CPU or not isinstance(given, Tensor) or given.since.verb in _NEW:
            return
        for frame in self.run.frame.outwards():
            if isinstance(frame.receiver, Module) and frame.name != "__init__":
                self.run.program.conduct.seen_to.update(class_of(self.run, frame))
