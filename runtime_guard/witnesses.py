"""Who else receives what a guard finds: recorders, of which a guard knows nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime_guard.mismatch import Mismatch

witnesses: list[Callable[[Mismatch], None]] = []
"""Called with every mismatch, before anything is done about it."""
