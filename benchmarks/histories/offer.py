"""Candidates laid out for those who read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.checkouts import git
from benchmarks.histories.mine import Candidate

PART = 80
"""So many candidates are one reader's part."""

_CONTEXT = 20


def lay_out(candidates: Iterable[Candidate], mirror: Path, folder: Path, part: int = PART) -> int:
    """Write `PART_1.jsonl` and so on, and for each candidate what a reader sees; how many.

    What is written holds code of other people, and belongs to no repository.

    Raises:
        CheckoutError: git has no such commit.
    """
    number = 0
    for number, chosen in enumerate(_parts(iter(candidates), part), 1):
        lines = [json.dumps(candidate.as_data()) for candidate in chosen]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"PART_{number}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for candidate in chosen:
            text = folder / f"PART_{number}" / f"{candidate.id}.txt"
            text.parent.mkdir(exist_ok=True)
            text.write_bytes(_shown(candidate, mirror))
    return number


def _parts(candidates: Iterator[Candidate], size: int) -> Iterator[Sequence[Candidate]]:
    while chosen := list(islice(candidates, size)):
        yield chosen


def _shown(candidate: Candidate, mirror: Path) -> bytes:
    """The commit's message, the names of its files, and what it did to this one."""
    repository = mirror / candidate.repo.replace("/", "+") / "repo"
    commit = candidate.fix_commit
    message = git(repository, "show", "--stat", "--format=%H%n%ad%n%n%B", commit, "--", "*.py")
    words = ("show", f"-U{_CONTEXT}", "--format=", commit, "--", candidate.file)
    change = git(repository, *words).decode("utf-8", "replace")
    return b"\n".join([message, *(line.encode() for line in _numbered(change.splitlines()))])


def _numbered(change: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a change with their numbers before and after it."""
    before = after = 0
    for line in change:
        if line.startswith("@@"):
            _, old, new, *_ = line.split()
            before, after = (int(each[1:].partition(",")[0]) for each in (old, new))
            yield line
        elif before:
            kind, rest = line[:1], line[1:]
            numbers = (before if kind != "+" else "", after if kind != "-" else "")
            yield "{:>6}{:>6} ".format(*numbers) + f"{kind} {rest}"
            before += kind != "+"
            after += kind != "-"
