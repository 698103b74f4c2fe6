"""What modules own: parameters, buffers and modules, and what they are taken for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.agreement.claims.files import FileClaims
from benchmarks.agreement.claims.owned import UNKNOWN
from benchmarks.agreement.records import FileRecord


@dataclass(frozen=True)
class WrongAttribute:
    """An attribute that is taken for what it never was."""

    attribute: str
    seen: str
    taken_for: str


@dataclass
class OwnedCounts:
    """How the attributes of recorded modules are taken.

    Attributes:
        right: by what they were, those that are taken for that.
        unknown: those of which nothing is said.
        wrong: those that are taken for something else.
        unwalked: those of classes whose `forward` no walk enters.
    """

    right: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    unwalked: Counter[str] = field(default_factory=Counter)

    def add(self, other: OwnedCounts) -> None:
        """Count those of another file, too."""
        self.right += other.right
        self.unknown += other.unknown
        self.wrong += other.wrong
        self.unwalked += other.unwalked


def compare_owned(
    record: FileRecord, claims: FileClaims
) -> tuple[OwnedCounts, list[WrongAttribute]]:
    """How the attributes of the modules of a file are taken, and which are taken wrongly."""
    counts = OwnedCounts()
    wrong: list[WrongAttribute] = []
    for name, attribute, kinds in _attributes(record):
        kind = "/".join(sorted(kinds))
        taken = claims.owned.get(name)
        if taken is None:
            counts.unwalked[kind] += 1
            continue
        said = taken.get(attribute, frozenset({UNKNOWN}))
        if UNKNOWN in said:
            counts.unknown[kind] += 1
        elif said & kinds:
            counts.right[kind] += 1
        else:
            counts.wrong[kind] += 1
            wrong.append(WrongAttribute(f"{name}.{attribute}", kind, "/".join(sorted(said))))
    return counts, wrong


def _attributes(record: FileRecord) -> Iterator[tuple[str, str, set[str]]]:
    for name, owned in record.owned.items():
        for attribute, kinds in owned.items():
            yield name, attribute, kinds
