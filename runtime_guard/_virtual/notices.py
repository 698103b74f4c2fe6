"""Says once what the virtual GPU does not model, where a program meets it."""

from __future__ import annotations

import warnings

from runtime_guard._errors import VirtualGpuWarning

_said: set[str] = set()


def once(subject: str, text: str, *, stacklevel: int = 3) -> None:
    """Warn of something that is not modelled, the first time that it is met.

    The warning points at the line that called our caller.
    """
    if subject not in _said:
        _said.add(subject)
        warnings.warn(f"virtual GPU: {text}", VirtualGpuWarning, stacklevel=stacklevel)


def forget() -> None:
    """Say everything anew."""
    _said.clear()
