"""The virtual machines that are in effect in this process: what measures time asks for them."""

from __future__ import annotations

from typing import Any

in_effect: list[Any] = []
"""The innermost last; `runtime_guard.virtual` puts them here."""
