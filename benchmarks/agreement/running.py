"""Runs subjects with the recorder, and again without it, on virtual GPUs."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.agreement.recording.environment import BOOT, MODULE, variables
from benchmarks.agreement.records import Record, read_record
from benchmarks.corpora.outcomes import SuiteOutcome
from benchmarks.corpora.running import Extras, Workplace, run_script, run_tests
from benchmarks.corpora.subjects import Script, Subject

DONE = "done"
"""A file beside records that are complete: whether each run ended well, line by line."""

TOO_LONG = "not done in time"
"""What is said of a run that was ended."""


@dataclass
class Ran:
    """What became of the runs of a subject.

    Attributes:
        subject: whose they are.
        tree: a copy of its checkout.
        records: what was recorded, by the number of GPUs of the machine.
        tests: how many tests passed while they were recorded.
        scripts: how many scripts ran to their end so.
        failed: what did not: suites that say nothing, and scripts.
        changed: tests and scripts that end otherwise without the recorder, where that was asked.
    """

    subject: Subject
    tree: Path
    records: dict[int, Record] = field(default_factory=dict)
    tests: int = 0
    scripts: int = 0
    failed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Recording:
    """Where and how subjects are recorded.

    Attributes:
        place: where runs take place.
        records: a folder for what is recorded; what is complete there is not run again.
        twice: whether each run is made without the recorder, too.
        limit: the seconds after which a run is ended; what it recorded until then counts.
        runs: whether anything is run at all; if not, what was recorded before counts alone.
    """

    place: Workplace
    records: Path
    twice: bool = False
    limit: float = 600.0
    runs: bool = True

    def record(self, subject: Subject) -> Ran:
        """Run the tests and scripts of a subject, each in a new copy of its checkout."""
        ran = Ran(subject, self.place.lay_out(subject))
        if subject.tests is not None:
            self._run_tests(subject, ran)
        for script in subject.scripts:
            self._run_script(subject, script, ran)
        return ran

    def _run_tests(self, subject: Subject, ran: Ran) -> None:
        assert subject.tests is not None
        into = self.records / subject.folder_name / "tests"
        if not self.runs and not (into / DONE).exists():
            return
        if self.runs and not _is_recorded(into):
            extras = self._extras(ran, into)
            outcome = run_tests(self.place, subject, ran.tree, extras=extras, limit=self.limit)
            passed = outcome.ids("passed")
            told = [str(ran.tree), outcome.fault, str(len(passed))]
            if self.twice:
                plain = run_tests(self.place, subject, ran.tree, limit=self.limit)
                told.extend(changed_between(outcome, plain))
            _write(into, told)
        root, fault, passed_tests, *changed = _told(into)
        ran.tests += int(passed_tests)
        ran.failed.extend([f"tests: {fault}"] if fault else [])
        ran.changed.extend(changed)
        _read(into, root, ran, subject.tests.gpus)

    def _run_script(self, subject: Subject, script: Script, ran: Ran) -> None:
        into = self.records / subject.folder_name / f"script-{script.name.replace('/', '-')}"
        if not self.runs and not (into / DONE).exists():
            return
        if self.runs and not _is_recorded(into):
            ran.tree = self.place.lay_out(subject)
            extras = self._extras(ran, into)
            try:
                told = self._ends_of(subject, script, ran.tree, extras)
            except OSError as error:
                told = [f"its data cannot be made: {error}"]
            _write(into, [str(ran.tree), *told])
        root, fault, *changed = _told(into)
        ran.scripts += not fault
        ran.failed.extend([f"{script.name}: {fault}"] if fault else [])
        ran.changed.extend(changed)
        _read(into, root, ran, script.gpus)

    def _ends_of(self, subject: Subject, script: Script, tree: Path, extras: Extras) -> list[str]:
        """Why a script does not end well, and its name where it ends otherwise unrecorded."""
        outcome = run_script(self.place, subject, script, tree, extras=extras, limit=self.limit)
        if not self.twice:
            return [outcome.fault]
        plain = run_script(self.place, subject, script, self.place.lay_out(subject))
        return [outcome.fault, *([script.name] if plain.status != outcome.status else [])]

    def _extras(self, ran: Ran, into: Path) -> Extras:
        shutil.rmtree(into, ignore_errors=True)
        sources = [ran.tree / source for source in ran.subject.sources]
        return Extras((MODULE,), (BOOT,), variables(sources, into))


def changed_between(recorded: SuiteOutcome, plain: SuiteOutcome) -> list[str]:
    """The tests that both runs came to and that passed in one of them alone."""
    endings = {each.test: each.outcome == "passed" for each in plain.results}
    return [
        each.test
        for each in recorded.results
        if endings.get(each.test, each.outcome == "passed") is not (each.outcome == "passed")
    ]


def _read(into: Path, root: str, ran: Ran, gpus: int) -> None:
    """Add what was recorded in a copy of the checkout that lay at `root`."""
    ran.records[gpus] = read_record(into, Path(root), ran.records.get(gpus))


def _write(into: Path, told: list[str]) -> None:
    into.mkdir(parents=True, exist_ok=True)
    lines = [" ".join(one.split()) for one in told]
    (into / DONE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _is_recorded(into: Path) -> bool:
    """Whether a run was recorded here before: what failed is tried again."""
    return (into / DONE).exists() and _told(into)[1] in ("", TOO_LONG)


def _told(into: Path) -> list[str]:
    return (into / DONE).read_text(encoding="utf-8").splitlines()
