"""What runs came to, as tables and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.corpora.outcomes import ScriptOutcome, SuiteOutcome
from benchmarks.corpora.subjects import Script, Subject


@dataclass(frozen=True)
class SuiteRun:
    """The tests of a subject on both machines; on the CPU only where that was asked for."""

    subject: Subject
    cpu: SuiteOutcome | None
    virtual: SuiteOutcome

    @property
    def newly_failing(self) -> frozenset[str]:
        """The tests that pass on the CPU and not on virtual GPUs."""
        if self.cpu is None:
            return frozenset()
        return self.cpu.ids("passed") & self.virtual.ids("failed", "error")


@dataclass(frozen=True)
class ScriptRun:
    """A script of a subject on virtual GPUs."""

    subject: Subject
    script: Script
    virtual: ScriptOutcome


def lines_of_suites(runs: Sequence[SuiteRun]) -> Iterator[str]:
    """A row for each package: passed, failed, skipped on the CPU and on virtual GPUs."""
    yield f"{'package':42} {'half':8} {'CPU':>16} {'virtual GPU':>16} {'on GPU':>7} {'device':>7} s"
    for run in runs:
        virtual = run.virtual
        yield (
            f"{run.subject.name:42} {run.subject.half:8} {_counts(run.cpu):>16} "
            f"{_counts(virtual):>16} {virtual.on_gpu:>7} {len(virtual.device_errors):>7} "
            f"{virtual.seconds:.0f}{' ' + virtual.fault if virtual.fault else ''}"
        )
    halves = Counter(run.subject.half for run in runs if not run.virtual.fault)
    yield f"{halves['learn']} packages to learn from, {halves['measure']} to measure with"


def _counts(outcome: SuiteOutcome | None) -> str:
    """Passed, failed (errors among them) and skipped."""
    if outcome is None:
        return "-"
    failed = outcome.count("failed") + outcome.count("error")
    return f"{outcome.count('passed')}/{failed}/{outcome.count('skipped')}"


def lines_of_scripts(runs: Sequence[ScriptRun]) -> Iterator[str]:
    """A row for each script."""
    yield f"{'script':62} {'half':8} {'GPU KiB':>8} s"
    for run in runs:
        name = f"{run.subject.name}: {run.script.name}"
        outcome = run.virtual
        yield (
            f"{name:62} {run.subject.half:8} {outcome.gpu_bytes // 1024:>8} "
            f"{outcome.seconds:.0f}{' ' + outcome.fault if outcome.fault else ''}"
        )
    well = Counter(run.subject.half for run in runs if run.virtual.is_well)
    yield (
        f"{sum(well.values())} of {len(runs)} scripts run on GPUs: {well['learn']} to learn from, "
        f"{well['measure']} to measure with"
    )


def as_data(suites: Sequence[SuiteRun], scripts: Sequence[ScriptRun]) -> dict[str, Any]:
    """All of it, for other programs."""
    return {
        "suites": [
            {
                "subject": run.subject.name,
                "half": run.subject.half,
                "cpu": run.cpu and _suite_data(run.cpu),
                "virtual": _suite_data(run.virtual),
                "newly_failing": sorted(run.newly_failing),
            }
            for run in suites
        ],
        "scripts": [
            {
                "subject": run.subject.name,
                "script": run.script.name,
                "half": run.subject.half,
                "well": run.virtual.is_well,
                "fault": run.virtual.fault,
                "gpu_bytes": run.virtual.gpu_bytes,
                "seconds": round(run.virtual.seconds, 1),
            }
            for run in scripts
        ],
    }


def _suite_data(outcome: SuiteOutcome) -> dict[str, Any]:
    return {
        "fault": outcome.fault,
        "seconds": round(outcome.seconds, 1),
        "on_gpu": outcome.on_gpu,
        "device_errors": [each.test for each in outcome.device_errors],
        "failing": sorted(outcome.ids("failed", "error")),
        **{kind: outcome.count(kind) for kind in ("passed", "skipped", "failed", "error")},
    }
