"""Runs every script on the CPU and on virtual GPUs, and holds what they learned side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchmarks.pytorch_examples.launching import Machine, Outcome, edited, launch
from benchmarks.pytorch_examples.runs import Run
from benchmarks.pytorch_examples.scratch import Scratch

SPOKEN = re.compile(r"(?i)\b(?:loss\w*|accuracy|ppl|psnr|acc@\d|error)\W{1,4}(?:is )?(\d+\.\d+\S*)")
"""A figure that a script prints of what it learned; times, which differ, have other names."""

ERROR = re.compile(r"\b(?!ChildFailedError)[A-Z]\w*(?:Error|Exception): ")
"""The last line of a traceback; a launcher's own says nothing of why a process failed."""


@dataclass(frozen=True)
class Compared:
    """One run on both machines.

    Attributes:
        run: what was run.
        cpu: what it came to on the CPU.
        virtual: what it came to on virtual GPUs.
    """

    run: Run
    cpu: Outcome
    virtual: Outcome

    @property
    def fault(self) -> str:
        """What is not as it should be; empty where all is well."""
        for place, outcome in (("the CPU", self.cpu), ("virtual GPUs", self.virtual)):
            if outcome.status is None:
                return f"not done in time on {place}"
            if not outcome.is_well:
                return f"failed on {place}: {last_line(outcome.said)}"
        if self.virtual.devices != (self.run.learns_on,):
            learned = ", ".join(self.virtual.devices) or "no device"
            return f"learned on {learned}, not on {self.run.learns_on}"
        return "" if self.run.uncompared else self._difference()

    def _difference(self) -> str:
        if self.cpu.learned != self.virtual.learned:
            return "learned something else than on the CPU"
        if self.cpu.files != self.virtual.files or None in self.virtual.files:
            return "wrote something else than on the CPU"
        if spoken(self.cpu.said) != spoken(self.virtual.said):
            return "printed something else than on the CPU"
        return ""

    @property
    def values(self) -> int:
        """How many values backward began from, in all processes; each was the same."""
        return sum(line.startswith("backward") for lines in self.virtual.learned for line in lines)


def compare(scratch: Scratch, run: Run) -> Compared:
    """Run a script on both machines."""
    outcomes = []
    for machine in (Machine(run.gpus, is_virtual=False), Machine(run.gpus, is_virtual=True)):
        name = f"{slug(run.name)}-{'virtual' if machine.is_virtual else 'cpu'}"
        folder = scratch.lay_out(run, name)
        if not machine.is_virtual:
            edited(folder, run.cpu_edits)
        outcomes.append(launch(scratch, run, folder, machine))
    return Compared(run, *outcomes)


def slug(name: str) -> str:
    """A run's name as that of a folder."""
    return re.sub(r"\W+", "_", name)


def spoken(said: str) -> list[str]:
    """The figures in what a script printed, in order of size: processes take turns as they like."""
    return sorted(SPOKEN.findall(said))


def last_line(said: str) -> str:
    """The last line that tells something: an exception, where there is one."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.search(line)]
    return (errors or lines or ["nothing was said"])[-1]
