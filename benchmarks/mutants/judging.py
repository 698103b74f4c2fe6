"""What becomes of a mutant: first by the run, then by devicelint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

from benchmarks.halves import Half
from benchmarks.mutants.benches import Bench, Failure, Place
from benchmarks.mutants.linting import Linter
from benchmarks.mutants.mutant import Mutant

Fate: TypeAlias = Literal["not run", "redundant", "fails otherwise", "harmful"]
FATES: tuple[Fate, ...] = get_args(Fate)


@dataclass(frozen=True)
class Judged:
    """What became of a mutant.

    Attributes:
        key: what identifies it.
        half: that of its repository.
        kind: what is forgotten.
        fate: what its run came to.
        found: whether devicelint finds it, on a line that has to do with it.
        elsewhere: whether devicelint reports something new, on other lines alone.
        safe: whether the tests that it fails pass after the safe fixes.
        all: whether they do after all fixes.
        subject: the repository; empty for those that measure, as all that follows.
        file: the file.
        line: its line.
        omitted: what is forgotten there.
        test: the first test that fails.
        error: its error.
        findings: file, line, code and message of what devicelint reports.
        text: the line of the file, as it is and as it is in the mutant.
    """

    key: str
    half: Half
    kind: str
    fate: Fate
    found: bool = False
    elsewhere: bool = False
    safe: bool = False
    all: bool = False
    subject: str = ""
    file: str = ""
    line: int = 0
    omitted: str = ""
    test: str = ""
    error: str = ""
    findings: tuple[tuple[str, int, str, str], ...] = ()
    text: tuple[str, str] = ("", "")

    def as_data(self) -> dict[str, Any]:
        """What is written down; of the measuring half only what is counted."""
        return {name: value for name, value in asdict(self).items() if value and value != ("", "")}


def judged_from(data: dict[str, Any]) -> Judged:
    """What was written down."""
    known = {field.name for field in fields(Judged)}
    told = {name: value for name, value in data.items() if name in known}
    told["text"] = tuple(told.get("text", ("", "")))
    told["findings"] = tuple(map(tuple, told.get("findings", ())))
    return Judged(**told)


def judge(mutant: Mutant, index: int, bench: Bench, linter: Linter) -> Judged:
    """Run a mutant, and see what devicelint makes of one that is harmful."""
    tests = bench.tests_that_reach(index)
    if not tests:
        return _told(mutant, "not run", ())
    failures = tuple(
        each for each in bench.run({mutant.file: mutant.text}, tests) if bench.is_steady(each.test)
    )
    harmed = tuple(each for each in failures if each.about_devices)
    if not harmed:
        return _told(mutant, "fails otherwise" if failures else "redundant", failures)
    places = tuple(dict.fromkeys(place for each in harmed for place in each.places))
    verdict = linter.judge(mutant, places)
    failing = tuple(each.test for each in harmed)
    safe, unsafe = (
        _repaired(mutant, places, failing, bench, linter) if verdict.told else (False,) * 2
    )
    return _told(
        mutant,
        "harmful",
        harmed,
        found=verdict.found,
        elsewhere=verdict.elsewhere,
        safe=safe,
        all=unsafe,
        findings=verdict.told,
    )


def _repaired(
    mutant: Mutant, places: Sequence[Place], failing: Sequence[str], bench: Bench, linter: Linter
) -> tuple[bool, bool]:
    """Whether the tests that fail pass after the safe fixes, and after all."""
    safe = linter.repaired(mutant, places, unsafe=False)
    every = linter.repaired(mutant, places, unsafe=True)
    passes = bool(safe) and not bench.run(safe, failing)
    if every == safe:
        return passes, passes
    return passes, bool(every) and not bench.run(every, failing)


def _told(mutant: Mutant, fate: Fate, failures: tuple[Failure, ...], **judged: Any) -> Judged:
    """With what a reader wants to know, in the learning half alone."""
    counted = {
        name: judged[name] for name in ("found", "elsewhere", "safe", "all") if name in judged
    }
    known = Judged(mutant.key, mutant.subject.half, mutant.omission.kind, fate, **counted)
    if mutant.subject.half != "learn":
        return known
    line = mutant.omission.line
    first = failures[0] if failures else None
    before, after = (text.splitlines()[line - 1] for text in (mutant.before, mutant.text))
    return replace(
        known,
        subject=mutant.subject.name,
        file=mutant.file,
        line=line,
        omitted=mutant.omission.text,
        test=first.test if first else "",
        error=first.told if first else "",
        findings=judged.get("findings", ()),
        text=(before, after),
    )
