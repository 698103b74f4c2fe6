"""What runs come to: each test by its id, each script by its exit status."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Ending: TypeAlias = Literal["passed", "skipped", "failed", "error"]


NOTHING_SELECTED = 5
"""pytest's exit status where no test was selected: those for GPUs, on the CPU."""


@dataclass(frozen=True)
class TestResult:
    """What became of a test, or of a file that could not be imported.

    Attributes:
        test: its id.
        outcome: how it ended; an expected failure counts as skipped.
        told: the exception, where there was one.
        is_device_error: whether that is one of torch's about devices.
        gpu_bytes: how much memory of GPUs it had at most.
        seconds: how long it took.
    """

    __test__ = False

    test: str
    outcome: Ending
    told: str = ""
    is_device_error: bool = False
    gpu_bytes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class SuiteOutcome:
    """What a run of a test suite came to.

    Attributes:
        status: pytest's exit status; None where it did not end within the limit.
        results: what became of the tests, in their order; of those before, where it did not end.
        said: all that was printed.
        seconds: how long it took.
        tree: the copy that ran: paths in `said` and in what a plug-in noted are below it.
    """

    status: int | None
    results: tuple[TestResult, ...]
    said: str
    seconds: float
    tree: Path

    def count(self, outcome: Ending) -> int:
        """How many tests ended so."""
        return Counter(each.outcome for each in self.results)[outcome]

    def ids(self, *outcomes: Ending) -> frozenset[str]:
        """The tests that ended so."""
        return frozenset(each.test for each in self.results if each.outcome in outcomes)

    @property
    def device_errors(self) -> tuple[TestResult, ...]:
        """The tests that an error about devices ended."""
        return tuple(each for each in self.results if each.is_device_error)

    @property
    def on_gpu(self) -> int:
        """How many tests had something on a GPU."""
        return sum(each.gpu_bytes > 0 for each in self.results)

    @property
    def fault(self) -> str:
        """Why the run says nothing; empty where it does."""
        if self.status is None:
            return "not done in time"
        if (self.status in (0, 1) and self.results) or self.status == NOTHING_SELECTED:
            return ""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        return f"pytest's exit status is {self.status}: {(lines or ['nothing was said'])[-1]}"


@dataclass(frozen=True)
class ScriptOutcome:
    """What a run of a script came to.

    Attributes:
        status: the exit status; None where it did not end within the limit.
        said: all that was printed.
        device_error: the first error about devices that was printed; empty where none was.
        gpu_bytes: how much memory of GPUs its processes had at most, together.
        seconds: how long it took.
        tree: the copy that ran.
    """

    status: int | None
    said: str
    device_error: str
    gpu_bytes: int
    seconds: float
    tree: Path

    @property
    def is_well(self) -> bool:
        """Whether it ran to its end, with something on a GPU."""
        return self.status == 0 and self.gpu_bytes > 0

    @property
    def fault(self) -> str:
        """Why it is not well; empty where it is."""
        if self.status is None:
            return "not done in time"
        if self.status != 0:
            lines = [line.strip() for line in self.said.splitlines() if line.strip()]
            return self.device_error or (lines or ["nothing was said"])[-1]
        return "" if self.gpu_bytes else "nothing was on a GPU"


def read_results(path: Path) -> Iterator[TestResult]:
    """What the plugin wrote, line by line; the last line may have been cut off."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in lines:
        try:
            data = json.loads(line)
        except json.JSONDecodeError:
            continue
        yield TestResult(
            data["test"],
            data["outcome"],
            data["told"],
            data.get("device_error", False),
            data.get("bytes", 0),
            data.get("seconds", 0.0),
        )
