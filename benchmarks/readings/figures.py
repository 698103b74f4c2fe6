"""What the verdicts on a batch come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from benchmarks.readings.ledger import Batch, Ledger, Published
from benchmarks.readings.seen import SeenFile, read_seen
from benchmarks.readings.verdicts import ReadingError, Verdict, read_verdicts

MILLION = 1_000_000


@dataclass(frozen=True)
class Counts:
    """How findings were judged."""

    right: int
    debatable: int
    wrong: int
    act: int | None = None
    """On how many a maintainer would act; None where nobody said."""

    @property
    def findings(self) -> int:
        """All of them."""
        return self.right + self.debatable + self.wrong

    @property
    def share_right(self) -> float | None:
        """The share that is right; None where there was nothing to read."""
        return self.right / self.findings if self.findings else None


def counted(verdicts: Sequence[Verdict]) -> Counts:
    """The counts of verdicts."""
    said = [each.verdict for each in verdicts]
    act = sum(each.act for each in verdicts)
    return Counts(said.count("right"), said.count("debatable"), said.count("wrong"), act)


@dataclass(frozen=True)
class Figures:
    """One row of the ledger.

    Attributes:
        name: what was read.
        devicelint: the commit that was read.
        repositories: how many.
        lines: how many.
        counts: how the findings were judged.
        seen: mistakes that readers saw by themselves.
        found: how many of these devicelint found.
    """

    name: str
    devicelint: str
    repositories: int
    lines: int
    counts: Counts
    seen: int
    found: int

    @property
    def right_per_million(self) -> float | None:
        """Right findings in a million lines."""
        return self.counts.right / self.lines * MILLION if self.lines else None


def of_published(known: Published) -> Figures:
    """The row of an earlier reading."""
    counts = Counts(known.right, known.debatable, known.wrong)
    sizes = (known.repositories, known.lines)
    name = f"known: {known.name}"
    return Figures(name, known.devicelint, *sizes, counts, known.seen, known.found)


@dataclass(frozen=True)
class Judged:
    """A batch with all that readers said of it."""

    batch: Batch
    verdicts: tuple[Verdict, ...]
    seen: tuple[SeenFile, ...]

    @property
    def figures(self) -> Figures:
        """The row of the batch."""
        bugs = [bug for each in self.seen for bug in each.bugs]
        batch = self.batch
        return Figures(
            f"batch {batch.number}",
            batch.devicelint,
            len(batch.repositories),
            batch.lines,
            counted(self.verdicts),
            len(bugs),
            sum(bug.found for bug in bugs),
        )

    def is_vendored(self, verdict: Verdict) -> bool:
        """Whether a finding lies in a copy of another project."""
        path = PurePosixPath(verdict.place.repo, verdict.place.file)
        return any(path.is_relative_to(folder) for folder in self.batch.vendored)

    def groups(self) -> Iterator[tuple[str, str, Counts]]:
        """Yield by what the findings are told apart, the group, and its counts."""
        keys: dict[str, Callable[[Verdict], str]] = {
            "repository": lambda each: each.place.repo,
            "rule": lambda each: each.place.code,
            "certainty": lambda each: each.certainty,
            "whose code": lambda each: "copied projects" if self.is_vendored(each) else "own code",
        }
        for kind, key in keys.items():
            for group in sorted(set(map(key, self.verdicts))):
                mine = [each for each in self.verdicts if key(each) == group]
                yield kind, group, counted(mine)
        yield "copies", "each text once", counted(self.of_each_text())

    def causes(self) -> list[tuple[str, int]]:
        """What devicelint did not understand where it was not right, the commonest first."""
        said = (each for each in self.verdicts if each.verdict != "right")
        return Counter(each.cause for each in said).most_common()

    def of_each_text(self) -> list[Verdict]:
        """The verdicts without those on copies: on the same place of a file with the same bytes."""
        once: dict[object, Verdict] = {}
        for each in self.verdicts:
            once.setdefault((each.text, *each.place[2:]), each)
        return list(once.values())


def judged(batch: Batch, ledger: Ledger) -> Judged:
    """A batch with its verdicts.

    Raises:
        ReadingError: a finding has no verdict, or the verdicts are not those of the batch.
    """
    path = ledger.verdicts_of(batch.number)
    verdicts = tuple(read_verdicts(path))
    unread = batch.findings - len(verdicts)
    if unread:
        raise ReadingError(
            f"{path.name} holds {len(verdicts)} verdicts on {batch.findings} findings:"
            f" {abs(unread)} {'unread' if unread > 0 else 'too many'}"
        )
    for each in verdicts:
        if batch.commits.get(each.place.repo) != each.commit:
            raise ReadingError(f"{path.name}: {each.place} is not of batch {batch.number}")
    seen = ledger.seen_of(batch.number)
    return Judged(batch, verdicts, tuple(read_seen(seen)) if seen.is_file() else ())
