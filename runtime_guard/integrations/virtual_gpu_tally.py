"""What a run of tests met on virtual GPUs: a line at its end, and a file on demand."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime_guard.virtual.block import VirtualGpu

_LONGEST = 200


@dataclass
class RunTally:
    """What was met.

    Attributes:
        tests: how many tests ran on a machine with virtual devices.
        used: how many of them placed something on a device.
        errors: what CUDA would have refused, by the test that failed with it.
        unmodelled: what was met that is not modelled, and how often.
    """

    tests: int = 0
    used: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    unmodelled: Counter[str] = field(default_factory=Counter)

    def add_test(self, gpu: VirtualGpu) -> None:
        """Count a test that has run."""
        self.tests += 1
        self.used += gpu.is_used

    def add_error(self, test: str, error: BaseException) -> None:
        """Count what made a test fail, if it is about devices."""
        from runtime_guard.messages.explain import is_device_error

        if is_device_error(error):
            self.errors.setdefault(test, str(error).strip().partition("\n")[0][:_LONGEST])

    def add(self, other: dict[str, Any]) -> None:
        """Add what another process of the run has met, as its `content`."""
        self.tests += other["tests"]
        self.used += other["used_a_device"]
        self.errors |= {one["test"]: one["error"] for one in other["device_errors"]}
        self.unmodelled.update({one["what"]: one["count"] for one in other["not_modelled"]})

    @property
    def content(self) -> dict[str, Any]:
        """What the report holds."""
        return {
            "tests": self.tests,
            "used_a_device": self.used,
            "device_errors": [
                {"test": test, "error": text} for test, text in sorted(self.errors.items())
            ],
            "not_modelled": [
                {"what": what, "count": count} for what, count in self.unmodelled.most_common()
            ],
        }

    def __str__(self) -> str:
        errors, kinds = len(self.errors), len(self.unmodelled)
        return (
            f"{self.used} of {self.tests} tests used a device, {errors} failed with a device "
            f"error, {kinds} {'thing is' if kinds == 1 else 'things are'} not modelled"
        )

    def write(self, path: Path, machine: str) -> None:
        """Write the report as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        text = json.dumps({"machine": machine, **self.content}, indent=2)
        path.write_text(f"{text}\n", "utf-8")


class Unmodelled:
    """What is met from now on that is not modelled."""

    def __init__(self) -> None:
        self._before = Counter(_met())

    def counts(self) -> Counter[str]:
        """How often each was met since."""
        return Counter(_met()) - self._before


def _met() -> Counter[str]:
    """What this process has met; nothing where no machine was ever in effect."""
    notices = sys.modules.get("runtime_guard.virtual.notices")
    return Counter() if notices is None else notices.met
