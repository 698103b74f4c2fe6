"""Tools that are timed as new processes, and that prove that they did their work."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import time
from dataclasses import dataclass, field


class BenchmarkError(Exception):
    """A tool could not be installed, or did not do the work that is to be timed."""


@dataclass(frozen=True)
class Tool:
    """One thing to time: its command, and what in its output proves how many files it checked.

    `proof` is a pattern: its group is that number; without a group, each match is a file.
    """

    name: str
    command: tuple[str, ...]
    proof: str = ""
    exit_statuses: tuple[int, ...] = (0,)
    input: str = ""

    def run(self) -> Sample:
        """Run once, and fail where the tool did not do its work."""
        cpu_before = children_cpu()
        start = time.perf_counter()
        # Compiled modules are kept, as where they were installed.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        completed = subprocess.run(
            self.command,
            input=self.input,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        wall, cpu = time.perf_counter() - start, children_cpu() - cpu_before
        output = completed.stdout + completed.stderr
        proofs = re.findall(self.proof, output) if self.proof else []
        files = int(proofs[0]) if proofs and proofs[0].isdecimal() else len(proofs)
        failed = completed.returncode not in self.exit_statuses or "Traceback (most" in output
        if failed or (self.proof and not files):
            status = completed.returncode
            raise BenchmarkError(f"{self.name}: exit status {status}\n{output[-2000:]}")
        return Sample(wall, cpu, files)


@dataclass(frozen=True)
class Sample:
    """One run: its seconds on the clock and of the processor, and the files that it checked."""

    wall: float
    cpu: float
    files: int


@dataclass
class Measurement:
    """All runs of one tool."""

    tool: Tool
    samples: list[Sample] = field(default_factory=list)

    @property
    def wall(self) -> float:
        """The median time on the clock."""
        return statistics.median(sample.wall for sample in self.samples)

    def row(self, unit: float) -> str:
        """One line of the table; the last column is the time in multiples of `unit`."""
        walls = [sample.wall for sample in self.samples]
        spread = f"{min(walls):.3f} to {max(walls):.3f}"
        cpu = statistics.median(sample.cpu for sample in self.samples)
        files = self.samples[0].files or ""
        times = f"{self.wall:>8.3f}  {spread:<18} {cpu:>8.3f} {files:>6} {self.wall / unit:>17.2f}"
        return f"{self.tool.name:<40} {times}"


def children_cpu() -> float:
    """The processor time of all processes that this one has started and waited for."""
    times = os.times()
    return times.children_user + times.children_system
