"""Tensors that one path makes on the CPU, where another has what lies on a device."""

from __future__ import annotations

from collections.abc import Iterator

from devicelint.domain.devices import CPU, may_be_accelerator
from devicelint.domain.events import Event
from devicelint.domain.history import Site, Verb
from devicelint.domain.training_events import MadeApart
from devicelint.domain.values import Tensor, Tuple, Value
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.run import Run


@analysis
class PathJoins(Analysis):
    """Notes what meets a tensor that is made on the CPU on its path alone."""

    serves = frozenset({MadeApart})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._elsewhere: dict[Site, Tensor] = {}
        """What lies elsewhere on another path, by the call that makes a tensor on the CPU."""

    def on_joined(self, left: Value, right: Value) -> None:
        """Remember a tensor that is made on the CPU on one path, and lies elsewhere on another."""
        if isinstance(left, Tuple) and isinstance(right, Tuple):
            for pair in zip(left.items, right.items, strict=False):
                self.on_joined(*pair)
        if not (isinstance(left, Tensor) and isinstance(right, Tensor)) or self.run.muted_parts:
            return
        for made, met in ((left, right), (right, left)):
            is_made = made.since.verb in (Verb.CREATED, Verb.CONVERTED) and made.scalar is False
            if is_made and made.device == CPU and may_be_accelerator(met.device):
                self._elsewhere.setdefault(made.since.site, met)

    def at_end(self) -> Iterator[Event]:
        """What was noted where paths met, for those calls that the checked file makes."""
        for site, other in self._elsewhere.items():
            if self.run.world.accelerators and site in self.run.made_in:
                yield MadeApart(site, other)
