"""What the callbacks for trainers have in common: their options, and what they found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime_guard.integrations.run_guard import RunGuard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runtime_guard.mismatch import Mismatch
    from runtime_guard.settings import Action


class GuardCallback:
    """Guards models in the runs of a library; the library's own class comes after it as a base.

    Takes the options of `runtime_guard.guard`.
    """

    def __init__(
        self,
        *,
        action: Action = "raise",
        steps: int | None = None,
        every: int = 1,
        only: str | Iterable[str] = (),
        skip: str | Iterable[str] = (),
        meta: bool = False,
    ) -> None:
        super().__init__()
        # skorch takes every attribute for a parameter whose name does not end so.
        self.run_ = RunGuard(
            action=action, steps=steps, every=every, only=only, skip=skip, meta=meta
        )

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """What was found in the run, or in the last one, each place once."""
        return self.run_.mismatches

    def remove(self) -> None:
        """Leave nothing attached, after a run that its library did not end."""
        self.run_.finish()


def missing(module: str, library: str) -> ImportError:
    """What to raise where the library of `runtime_guard.<module>` cannot be imported."""
    needs = f"runtime_guard.{module} needs {library}: pip install {library}"
    return ImportError(needs, name=library)
