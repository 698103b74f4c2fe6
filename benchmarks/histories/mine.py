"""Commits whose change to a file is one of device tokens alone."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

from benchmarks.checkouts import CheckoutError
from benchmarks.histories.commits import Branches, Change, Contents, changes_of
from benchmarks.histories.nodes import Statement, statements_of
from benchmarks.histories.residue import residue_of
from benchmarks.histories.words import moves

Span: TypeAlias = tuple[int, int, int, int]
"""Lines from, lines up to: in the old file, and in the new one."""

LONGEST = 30
"""So many lines may change."""

MOVING = (
    "cuda",
    "gpu",
    "cpu",
    "device",
    ".to(",
    "map_location",
    "type_as",
    "new_",
    "_like",
    "buffer",
)
"""What a line has, where an edit is worth a closer look."""


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


def candidates_of(
    repository: Path, name: str, branches: Branches = "all", *, parts: bool = False
) -> Iterator[Candidate]:
    """Yield the candidates of a repository from the oldest on; the same change is one, once.

    With `parts`, a commit that changes other things in a file as well is a candidate, where some
    of its edits are of devices alone.

    Raises:
        CheckoutError: git cannot say.
    """
    seen: set[str] = set()
    with Contents(repository) as contents:
        for change in changes_of(repository, branches):
            if change.size > LONGEST:
                continue
            try:
                before, after = contents.text(change.before), contents.text(change.after)
            except UnicodeDecodeError:
                continue
            edit = _edit_of_devices(before, after, parts)
            mark = sha256(f"{change.file}{edit}".encode()).hexdigest()
            if edit is not None and mark not in seen:
                seen.add(mark)
                yield _candidate(name, change, edit)


@dataclass(frozen=True)
class Edit:
    """The lines that went, and those that came in their place; all other lines stay."""

    removed: tuple[tuple[int, str], ...]
    added: tuple[tuple[int, str], ...]
    whole: bool


def _edit_of_devices(before: str, after: str, parts: bool) -> Edit | None:
    """What a change does to devices: all of it, or with `parts` those edits that are of devices."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if is_of_devices_alone(before, after):
        return _edit(old, new, _edits(old, new), whole=True)
    found = [each for each in _edits(old, new) if parts and _is_of_devices(old, new, each)]
    return _edit(old, new, found, whole=False) if found else None


def _is_of_devices(old: Sequence[str], new: Sequence[str], edit: Span) -> bool:
    """Whether one edit alone makes a change of device tokens."""
    a, b, c, d = edit
    if not any(word in line for line in (*old[a:b], *new[c:d]) for word in MOVING):
        return False
    partly = "".join([*old[:a], *new[c:d], *old[b:]])
    return is_of_devices_alone("".join(old), partly)


def _edits(old: Sequence[str], new: Sequence[str]) -> list[Span]:
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [code[1:] for code in codes if code[0] != "equal"]


def _edit(old: Sequence[str], new: Sequence[str], spans: Iterable[Span], *, whole: bool) -> Edit:
    removed: list[int] = []
    added: list[int] = []
    for a, b, c, d in spans:
        removed.extend(range(a, b) if a < b else range(max(a - 1, 0), min(a + 1, len(old))))
        added.extend(range(c, d))
    return Edit(
        tuple((line + 1, old[line]) for line in removed),
        tuple((line + 1, new[line]) for line in added),
        whole,
    )


def _candidate(name: str, change: Change, edit: Edit) -> Candidate:
    short = f"{name.partition('/')[2]}-{change.commit[:8]}-{Path(change.file).stem}"
    before, after = (tuple(line for line, _ in side) for side in (edit.removed, edit.added))
    return Candidate(short, name, change.commit, change.file, before, after, edit.whole)


def is_of_devices_alone(before: str, after: str) -> bool:
    """Whether two versions of a file differ in device tokens, and in nothing else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(before), ast.parse(after)
        old, new = statements_of(before), statements_of(after)
    except (SyntaxError, ValueError, RecursionError):
        return False
    if residue_of(old) != residue_of(new):
        return False
    return any(map(moves, _differing(tuple(_rows(old)), tuple(_rows(new)))))


def _rows(statements: Iterable[Statement]) -> Iterator[tuple[str, ...]]:
    for statement in statements:
        yield statement.tokens
        yield from _rows(statement.body)


def _differing(old: Sequence[tuple[str, ...]], new: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the tokens in which two versions differ."""
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        left = [token for row in old[a:b] for token in row]
        right = [token for row in new[c:d] for token in row]
        for sort, e, f, g, h in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            if sort != "equal":
                yield from left[e:f]
                yield from right[g:h]


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
