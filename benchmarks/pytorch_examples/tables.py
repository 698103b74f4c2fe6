"""What was found, as tables for people and as data for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from benchmarks.pytorch_examples.comparing import Compared
from benchmarks.pytorch_examples.mutants import Fate, Mutant

FATES: tuple[str, ...] = get_args(Fate)


def lines_of_runs(compared: Sequence[Compared]) -> Iterable[str]:
    """A line for each run, and how many were as they should be."""
    width = max(len(each.run.name) for each in compared)
    head = f"{'run':{width}}  GPUs  processes  values  CPU s  virtual s  "
    yield head
    for each in compared:
        verdict = each.fault or each.run.uncompared or "the same, bit for bit"
        yield (
            f"{each.run.name:{width}}  {each.run.gpus:4}  {len(each.virtual.learned):9}  "
            f"{each.values:6}  {each.cpu.seconds:5.1f}  {each.virtual.seconds:9.1f}  {verdict}"
        )
    well = [each.run.uncompared for each in compared if not each.fault]
    yield f"{len(well)} of {len(compared)} runs do what they should"
    yield f"{well.count('')} of them learn the same on virtual GPUs as on the CPU, bit for bit"


def lines_of_mutants(mutants: Sequence[Mutant]) -> Iterable[str]:
    """A line for each run with its mutants' fates, and one for each that needs a reader."""
    names = list(dict.fromkeys(mutant.run.name for mutant in mutants))
    width = max((len(name) for name in names), default=3)
    yield f"{'run':{width}}  mutants  " + "  ".join(FATES)
    for name in [*names, "all"]:
        fates = Counter(each.fate for each in mutants if name in (each.run.name, "all"))
        counts = "  ".join(f"{fates[fate]:{len(fate)}}" for fate in FATES)  # type: ignore[index]
        yield f"{name:{width}}  {fates.total():7}  {counts}"
    for mutant in mutants:
        if mutant.fate in ("survived", "failed"):
            yield f"{mutant.fate}: {mutant.run.name}, {mutant.file}:{mutant.move}"
            yield f"    {mutant.told or mutant.reason or 'no reason is known'}"


def as_data(compared: Sequence[Compared], mutants: Sequence[Mutant]) -> dict[str, Any]:
    """All of it."""
    return {
        "runs": [
            {
                "name": each.run.name,
                "gpus": each.run.gpus,
                "processes": len(each.virtual.learned),
                "values": each.values,
                "cpu_seconds": round(each.cpu.seconds, 1),
                "virtual_seconds": round(each.virtual.seconds, 1),
                "fault": each.fault,
                "uncompared": each.run.uncompared,
            }
            for each in compared
        ],
        "mutants": [
            {
                "run": each.run.name,
                "file": each.file,
                "line": each.move.line,
                "written": each.written,
                "move": each.move.text,
                "fate": each.fate,
                "told": each.told,
                "reason": each.reason,
            }
            for each in mutants
        ],
    }
