"""Commits whose change to a file is one of device tokens alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.checkouts import CheckoutError, git
from benchmarks.histories.commits import Branches, Change, Contents, changes_of
from benchmarks.histories.edits import Edit, edit_of_devices

LONGEST = 30
"""So many lines may change."""

EVERY_BRANCH = 10_000
"""A repository with more commits is walked along its default branch alone."""

EVERY_EDIT = 3_500
"""In a repository with more commits, a change has to be of device tokens as a whole."""


@dataclass(frozen=True)
class Candidate:
    """A commit that somebody has to read: it may be the fix of a device mistake.

    Attributes:
        id: repository, commit and file, shortened.
        repo: `owner/name`.
        fix_commit: the full hash; its first parent is what was before.
        file: the file that changed.
        before_lines: the lines of the parent that went; where lines only came, the two between
            which they came.
        after_lines: the lines that came.
        whole: the commit changed nothing else in the file.
    """

    id: str
    repo: str
    fix_commit: str
    file: str
    before_lines: tuple[int, ...]
    after_lines: tuple[int, ...]
    whole: bool

    def as_data(self) -> dict[str, object]:
        """What `--out` holds of it; no code."""
        return asdict(self)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Candidate:
        """What `--out` held."""
        sides = {side: tuple(data[side]) for side in ("before_lines", "after_lines")}
        return cls(**{**data, **sides})


def candidates_of_all(repository: Path, name: str) -> list[Candidate]:
    """The candidates of a repository, each with a name of its own.

    A repository with many commits is walked along its default branch alone, and only for commits
    that change nothing else in a file: it has candidates enough.

    Raises:
        CheckoutError: git cannot say.
    """
    commits = int(git(repository, "rev-list", "--no-merges", "--count", "--all"))
    branches: Branches = "all" if commits <= EVERY_BRANCH else "head"
    given: Counter[str] = Counter()
    found: list[Candidate] = []
    for each in candidates_of(repository, name, branches, parts=commits <= EVERY_EDIT):
        given[each.id] += 1
        turn = given[each.id]
        found.append(each if turn == 1 else replace(each, id=f"{each.id}-{turn}"))
    return found


def candidates_of(
    repository: Path, name: str, branches: Branches = "all", *, parts: bool = False
) -> Iterator[Candidate]:
    """Yield the candidates of a repository from the oldest on; the same change is one, once.

    With `parts`, a commit that changes other things in a file as well is a candidate, where some
    of its edits are of devices alone.

    Raises:
        CheckoutError: git cannot say.
    """
    seen: set[tuple[str, str]] = set()
    with Contents(repository) as contents:
        for change in changes_of(repository, branches):
            if change.size > LONGEST:
                continue
            try:
                before, after = contents.text(change.before), contents.text(change.after)
            except UnicodeDecodeError:
                continue
            edit = edit_of_devices(before, after, parts=parts)
            if edit is not None and (mark := (change.file, edit.text)) not in seen:
                seen.add(mark)
                yield _candidate(name, change, edit)


def _candidate(name: str, change: Change, edit: Edit) -> Candidate:
    file = Path(change.file)
    stem = f"{file.parent.name}-init" if file.stem == "__init__" else file.stem
    short = f"{name.partition('/')[2]}-{change.commit[:8]}-{stem}"
    return Candidate(
        short, name, change.commit, change.file, edit.before_lines, edit.after_lines, edit.whole
    )


def in_turn(found: Iterable[Sequence[Candidate]], seed: int) -> Iterator[Candidate]:
    """Yield one candidate of each repository, then the next of each, and so on.

    Of each repository those come first of which the commit changed nothing else in the file, and
    of each commit one file before all commits have had their turn.
    """
    shuffled = [_shuffled(each, seed) for each in found]
    for row in zip_longest(*shuffled):
        yield from (each for each in row if each is not None)


def _shuffled(found: Sequence[Candidate], seed: int) -> list[Candidate]:
    def chance(candidate: Candidate) -> str:
        return sha256(f"{seed} {candidate.id}".encode()).hexdigest()

    turns: Counter[str] = Counter()
    placed: list[tuple[bool, int, str, Candidate]] = []
    for candidate in sorted(found, key=chance):
        turn = turns[candidate.fix_commit]
        turns[candidate.fix_commit] += 1
        placed.append((not candidate.whole, turn, chance(candidate), candidate))
    return [candidate for *_, candidate in sorted(placed, key=lambda each: each[:3])]


def repositories_below(mirror: Path) -> Iterator[tuple[Path, str]]:
    """Yield the repositories of a folder with their names, as `OWNER+NAME/repo`.

    Raises:
        CheckoutError: there is none.
    """
    found = sorted(mirror.glob("*/repo"), key=lambda folder: folder.parent.name.lower())
    if not found:
        raise CheckoutError(f"{mirror} holds no OWNER+NAME/repo")
    for folder in found:
        yield folder, folder.parent.name.replace("+", "/")
