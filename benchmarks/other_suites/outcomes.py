"""What a run of pytest said of each test, and how two runs differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

COMPILED = re.compile(r"torch\._inductor|run_and_get_code|graph_break|InductorError|triton")
NO_KERNEL = re.compile(r"from the 'CPU' backend|not implemented for '|without overflow")
DEVICES = re.compile(r"on the same device|is on cuda|but got .* on c(?:uda|pu)|device type")


@dataclass(frozen=True)
class Outcome:
    """What became of one test.

    Attributes:
        state: `passed`, `failed` or `skipped`.
        text: the end of its failure, as pytest shows it.
        seconds: how long it took, with its fixtures.
    """

    state: str
    text: str
    seconds: float

    @property
    def kind(self) -> str:
        """Of what a failure speaks, as far as its text says it."""
        if DEVICES.search(self.text):
            return "devices"
        if COMPILED.search(self.text):
            return "compiled code"
        return "a kernel of the CPU" if NO_KERNEL.search(self.text) else "something else"


def read(path: Path) -> dict[str, Outcome]:
    """The outcomes in a file of `--junit-xml`; none if the run left no file."""
    if not path.exists():
        return {}
    cases = ElementTree.parse(path).getroot().iter("testcase")
    return {f"{case.get('classname')}::{case.get('name')}": _outcome(case) for case in cases}


def _outcome(case: ElementTree.Element) -> Outcome:
    seconds = float(case.get("time", "0"))
    for tag, state in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        found = case.find(tag)
        if found is not None:
            return Outcome(state, f"{found.get('message', '')}\n{found.text or ''}", seconds)
    return Outcome("passed", "", seconds)


@dataclass(frozen=True)
class Comparison:
    """A suite on its path for CUDA beside the same suite on the CPU.

    Attributes:
        tests: how many tests ran on virtual devices.
        on_device: how many of them placed something on a device.
        broken: those that failed there, and did not fail on the CPU, by what they speak of.
        own: how many more are known to fail for a reason of the package's own.
        broken_on_cpu: how many fail in both runs.
        names: the tests that failed there, and their first line.
        ratio: the time of the tests that pass in both runs, there by here.
    """

    tests: int
    on_device: int
    broken: Counter[str]
    own: int
    broken_on_cpu: int
    names: dict[str, str]
    ratio: float


def compared(
    here: dict[str, Outcome], there: dict[str, Outcome], on_device: int, known: Collection[str]
) -> Comparison:
    """Hold a run on virtual devices against one on the CPU.

    Args:
        here: the outcomes on the CPU.
        there: those on virtual devices.
        on_device: how many tests placed something on a device.
        known: parts of the names of tests that fail for a reason of the package's own.
    """
    ran = {name: one for name, one in there.items() if one.state != "skipped"}
    failed = {name: one for name, one in ran.items() if one.state == "failed"}
    both = {name for name in failed if _twin(here, name) == "failed"}
    alone = {name: one for name, one in failed.items() if name not in both}
    broken = {name: one for name, one in alone.items() if not any(part in name for part in known)}
    passed = [
        (here[name].seconds, one.seconds)
        for name, one in ran.items()
        if one.state == "passed" and name in here and here[name].state == "passed"
    ]
    before, after = (sum(times) for times in zip(*passed, strict=True)) if passed else (0.0, 0.0)
    lines = {name: one.text.strip().partition("\n")[0][:160] for name, one in broken.items()}
    kinds = Counter(one.kind for one in broken.values())
    own = len(alone) - len(broken)
    ratio = after / before if before else 0
    return Comparison(len(ran), on_device, kinds, own, len(both), lines, ratio)


def _twin(here: dict[str, Outcome], name: str) -> str | None:
    """The state of the same test on the CPU: of the same name, or with `cpu` for the device."""
    for twin in (name, name.replace("cuda:0", "cpu"), name.replace("cuda", "cpu")):
        if twin in here:
            return here[twin].state
    return None
