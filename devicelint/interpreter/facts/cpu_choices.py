"""What the conditions around say of a device that nobody can read: it may be the CPU after all."""

from __future__ import annotations

import re

from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import speaks_of_devices

_OF_THE_CPU = re.compile(r"cpu|\bno_|disable|is None|== ?-1|< ?0")
_OTHERWISE = re.compile(r"!=|\bnot\b")


def may_mean_cpu(run: Run) -> bool:
    """Whether a condition about devices holds that leaves no choice but the CPU, perhaps."""
    if run.device_choices:
        return True
    return any(
        speaks_of_devices(key) and chosen is _means_the_cpu(key)
        for key, chosen in run.world.settings
    )


def _means_the_cpu(condition: str) -> bool:
    """Whether a condition about devices holds where the CPU is meant: `device == "cpu"`."""
    of_the_cpu = _OF_THE_CPU.search(condition) is not None
    return of_the_cpu is (_OTHERWISE.search(condition) is None)
