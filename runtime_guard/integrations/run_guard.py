"""The guard of a run that a library's trainer makes: what its callbacks have in common."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from runtime_guard.hooks.guard import guard
from runtime_guard.messages.explain import annotate
from runtime_guard.settings import settings_from

if TYPE_CHECKING:
    from torch import nn

    from runtime_guard.hooks.guard import Guard
    from runtime_guard.mismatch import Mismatch


class RunGuard:
    """Guards models from the start of a run to its end, in as many runs as there are.

    A run that failed may never inform its callbacks: starting the next one takes away what is left.
    Pickled or copied in a run, as trainers are, it comes back between runs.
    """

    def __init__(self, **options: Any) -> None:
        self._options = asdict(settings_from(**options))
        self._guards: list[Guard] = []
        self._found: list[Mismatch] = []

    def __repr__(self) -> str:
        return f"<{'guards a run' if self.running else 'waits for a run'}, {self._options}>"

    def __getstate__(self) -> dict[str, Any]:
        return {"_options": self._options, "_guards": [], "_found": list(self.mismatches)}

    @property
    def running(self) -> bool:
        """Whether models are guarded now."""
        return bool(self._guards)

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """What was found in the run, or in the last one, each place once."""
        now = [mismatch for handle in self._guards for mismatch in handle.mismatches]
        return (*self._found, *now)

    def start(self, *models: nn.Module) -> None:
        """Guard these models; what an earlier run found is forgotten."""
        self.finish()
        self._found = []
        try:
            for model in models:
                self._guards.append(guard(model, **self._options))
        except BaseException:
            # A warning of what was left on the CPU may be an error here.
            self.finish()
            raise

    def fail(self, error: BaseException) -> None:
        """Explain what ended the run, if it is about devices, and leave nothing attached."""
        annotate(error)
        self.finish()

    def finish(self) -> None:
        """Leave nothing attached."""
        self._found = list(self.mismatches)
        for handle in self._guards:
            handle.remove()
        self._guards = []
