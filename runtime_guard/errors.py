"""The exception and the warnings that users see and may catch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime_guard.mismatch import Mismatch


class DeviceMismatchError(RuntimeError):
    """A module was given a tensor on another device than its own.

    Attributes:
        mismatches: one for each tensor; empty where the error was rebuilt from its text alone,
            as torch does with the exceptions of worker processes.
    """

    def __init__(self, message: str, mismatches: Sequence[Mismatch] = ()) -> None:
        super().__init__(message)
        self.mismatches = tuple(mismatches)


class DeviceMismatchWarning(UserWarning):
    """The same, where the action is to warn or to move."""


class PlacementWarning(UserWarning):
    """Part of a model was left behind on the CPU."""


class VirtualGpuWarning(UserWarning):
    """A program met something that the virtual GPU does not model."""


# Tracebacks and warnings name them as users import them.
for _class in (DeviceMismatchError, DeviceMismatchWarning, PlacementWarning, VirtualGpuWarning):
    _class.__module__ = "runtime_guard"
