"""Mutants: a subject's files, each with one thing forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path, PurePosixPath

from benchmarks.corpora.subjects import Subject
from benchmarks.mutants.omissions import Omission, omissions_in
from runtime_guard.mutation.marking import marked


@dataclass(frozen=True)
class Mutant:
    """A file of a subject in which one thing is forgotten.

    Attributes:
        subject: the repository.
        file: the path of the file, below the repository.
        before: its text as it is.
        omission: what is forgotten.
    """

    subject: Subject
    file: str
    before: str
    omission: Omission

    @property
    def text(self) -> str:
        """The text of the file; each line keeps its number."""
        return self.omission.made_in(self.before)

    @property
    def key(self) -> str:
        """What identifies it, and says nothing of it."""
        omission = self.omission
        place = (self.subject.name, self.subject.commit, self.file)
        word = (omission.kind, str(omission.start), str(omission.end))
        return _digest("\n".join((*place, *word)))[:20]

    def __str__(self) -> str:
        return f"{self.subject.name} {self.file}:{self.omission}"


def source_files(subject: Subject, tree: Path) -> tuple[str, ...]:
    """The files of a copy that are mutated: those of the subject's sources, but for its tests."""
    found: dict[str, None] = {}
    for source in subject.sources:
        path = tree / source
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        names = (each.relative_to(tree).as_posix() for each in files)
        found.update((name, None) for name in names if not subject.tests or not _is_test(name))
    return tuple(found)


def _is_test(file: str) -> bool:
    path = PurePosixPath(file)
    folders = {"tests", "test", "testing"} & set(path.parts[:-1])
    return bool(folders) or path.name.startswith(("test_", "conftest")) or "_test." in path.name


def mutants_of(subject: Subject, tree: Path) -> tuple[Mutant, ...]:
    """All mutants of a subject, by file and place."""
    return tuple(
        Mutant(subject, file, text, omission)
        for file in source_files(subject, tree)
        if (text := read(tree / file)) is not None
        for omission in omissions_in(text)
    )


def read(path: Path) -> str | None:
    """The text of a file, its line ends as they are; None where it has none."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def marked_files(mutants: Sequence[Mutant]) -> Iterator[tuple[str, str, str]]:
    """Each file, its text, and that in which the place of each mutant says that it is reached."""
    by_file: dict[str, list[int]] = {}
    for index, mutant in enumerate(mutants):
        by_file.setdefault(mutant.file, []).append(index)
    for file, indices in by_file.items():
        before = mutants[indices[0]].before
        # A file's mutants follow one another.
        marks = [mutants[index].omission.made for index in indices]
        yield file, before, marked(before, marks, indices[0])


def in_seeded_order(mutants: Sequence[Mutant], seed: int) -> list[Mutant]:
    """The mutants of a subject, in an order that the seed decides."""
    return sorted(mutants, key=lambda mutant: _digest(f"{seed} {mutant.key}"))


def alternating(subjects: Sequence[Subject], seed: int) -> list[Subject]:
    """Subjects in an order that the seed decides, one of each half in turn."""
    ordered = sorted(subjects, key=lambda subject: _digest(f"{seed} {subject.name}"))
    halves = [[each for each in ordered if each.half == half] for half in ("learn", "measure")]
    pairs = zip_longest(*halves)
    return [each for pair in pairs for each in pair if each is not None]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
