"""Says once what the virtual GPU does not model, where a program meets it."""

from __future__ import annotations

import sys
import warnings
from collections import Counter

from runtime_guard.errors import VirtualGpuWarning
from runtime_guard.lines import is_plumbing

_said: set[str] = set()

met: Counter[str] = Counter()
"""How often each thing that is not modelled was met in this process, by what is said of it."""


def once(subject: str, text: str) -> None:
    """Warn of something that is not modelled, the first time that it is met.

    The warning points at the line that called torch.
    """
    met[text] += 1
    if subject not in _said:
        _said.add(subject)
        warnings.warn(f"virtual GPU: {text}", VirtualGpuWarning, stacklevel=depth_of_caller())


def depth_of_caller() -> int:
    """How many frames above its caller the first is that is neither torch's nor ours."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and is_plumbing(frame.f_code.co_filename):
        frame, depth = frame.f_back, depth + 1
    return depth


def forget() -> None:
    """Say everything anew."""
    _said.clear()
