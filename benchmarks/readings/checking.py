"""What devicelint says of one repository, file by file, without any of its code."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.checking import Outcome, check_file
from benchmarks.checkouts import Checkout, CheckoutError, git
from devicelint.finding import Finding
from devicelint.workspace.project import Project

BETWEEN_COLLECTIONS = 100

ANALYSER = "devicelint"
"""The folder whose last commit says which analyser is read."""


@dataclass(frozen=True)
class Cited:
    """A place that explains a finding, and what is said of it."""

    file: str
    line: int
    cell: int | None
    message: str


@dataclass(frozen=True)
class Found:
    """One finding as it is given to a reader; lines and columns count from 1, as printed.

    Attributes:
        repo: the repository, `OWNER/NAME`.
        file: as the repository calls it.
        line: the first line of the finding.
        column: where it begins in that line.
        end_line: its last line.
        cell: the cell of a notebook that these lines are of.
        code: the rule.
        certainty: how devicelint knows the devices.
        machine: on which machine it happens.
        message: what it says.
        text: a digest of the file's bytes, the same for copies.
        cited: the places that it explains itself by.
    """

    repo: str
    file: str
    line: int
    column: int
    end_line: int
    cell: int | None
    code: str
    certainty: str
    machine: str
    message: str
    text: str
    cited: tuple[Cited, ...] = ()


@dataclass(frozen=True)
class Read:
    """A repository that was checked: how much there was, and what devicelint could not check."""

    repo: str
    commit: str
    files: int
    notebooks: int
    lines: int
    troubles: tuple[str, ...]


def analyser_commit(root: Path) -> str:
    """The last commit that changed the analyser.

    Raises:
        CheckoutError: it has changes that no commit holds.
    """
    if git(root, "status", "--porcelain", "--", ANALYSER).strip():
        raise CheckoutError(f"{root / ANALYSER} has changes that no commit holds")
    return git(root, "log", "-1", "--format=%H", "--", ANALYSER).decode().strip()


def check(checkout: Checkout) -> tuple[Read, list[Found]]:
    """Check every file and notebook of a repository, as a project of its own, by default rules."""
    project = Project()
    found: list[Found] = []
    troubles: list[str] = []
    lines = 0
    files = list(checkout.files())
    notebooks = list(checkout.files(notebooks=True))
    for number, path in enumerate([*files, *notebooks], start=1):
        outcome = check_file(path, project)
        lines += outcome.source.text.count("\n") if outcome.source else _lines_of(path)
        found += (_without_code(checkout, outcome, each) for each in outcome.findings)
        if outcome.fate != "checked":
            troubles.append(f"{outcome.fate}: {_told(checkout, outcome)}")
        if number % BETWEEN_COLLECTIONS == 0:
            gc.collect()
    read = Read(checkout.name, checkout.commit, len(files), len(notebooks), lines, tuple(troubles))
    return read, found


def _lines_of(path: Path) -> int:
    """The lines of a script that cannot be checked; they were there to be read."""
    return path.read_bytes().count(b"\n") if path.suffix == ".py" else 0


def _told(checkout: Checkout, outcome: Outcome) -> str:
    name = checkout.relative(outcome.path)
    return f"{name}: {outcome.told.replace(f'{outcome.path}:', '')}"


def _without_code(checkout: Checkout, outcome: Outcome, finding: Finding) -> Found:
    assert outcome.source is not None
    start = outcome.source.location(finding.span.start)
    end = outcome.source.location(max(finding.span.start, finding.span.end - 1))
    return Found(
        checkout.name,
        checkout.relative(outcome.path),
        start.line,
        start.column + 1,
        end.line,
        start.cell,
        finding.code,
        finding.certainty.value,
        finding.machine,
        finding.message,
        digest_of(outcome.path),
        tuple(_cited(checkout, outcome, finding)),
    )


def digest_of(path: Path) -> str:
    """What tells the bytes of a file from others."""
    return sha256(path.read_bytes()).hexdigest()[:16]


def _cited(checkout: Checkout, outcome: Outcome, finding: Finding) -> Iterator[Cited]:
    assert outcome.source is not None
    for near in finding.related:
        at = outcome.source.location(near.span.start)
        yield Cited(checkout.relative(outcome.path), at.line, at.cell, near.message)
    for far in finding.elsewhere:
        yield Cited(_named(checkout, far.path), far.line, far.cell, far.message)


def _named(checkout: Checkout, path: str) -> str:
    inside = Path(path).is_relative_to(checkout.folder)
    return checkout.relative(path) if inside else Path(path).name


def write_lines(path: Path, entries: Iterable[Any]) -> None:
    """Write dataclasses as JSON, one on a line."""
    text = "".join(json.dumps(asdict(entry)) + "\n" for entry in entries)
    path.write_text(text, encoding="utf-8")


def read_found(path: Path) -> list[Found]:
    """The findings that were written for readers."""
    entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Found(**entry | {"cited": tuple(Cited(**each) for each in entry["cited"])})
        for entry in entries
    ]
