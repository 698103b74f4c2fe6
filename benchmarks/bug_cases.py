"""The cases of the real-bug benchmark: read, and written out from checkouts."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.checkouts import CheckoutError, git

Side = Literal["before", "after"]


@dataclass(frozen=True)
class Case:
    """A fix that a human made, and where the mistake stood before it.

    Attributes:
        id: its name, which is that of its folder as well.
        repo: `owner/name`.
        fix_commit: the fix; the mistake is in its first parent.
        file: the file, as the repository calls it.
        buggy_lines: where the mistake stands in the parent.
        fixed_lines: what the fix made of it, in the fix.
        kind: which mistake it is.
        evidence: what shows it.
        effect: `error`, `silent`, or `old-torch`.
        local: whether the file alone decides it.
    """

    id: str
    repo: str
    fix_commit: str
    file: str
    buggy_lines: tuple[int, ...]
    fixed_lines: tuple[int, ...]
    kind: str
    evidence: str
    effect: str
    local: bool

    def commit(self, side: Side) -> str:
        """What git calls the state of the repository on one side of the fix."""
        return f"{self.fix_commit}^" if side == "before" else self.fix_commit


def read_cases(path: Path, only: Sequence[str] = ()) -> list[Case]:
    """The cases of a file with one JSON object a line; all, or those that are named.

    Raises:
        CheckoutError: the file cannot be read, or a line of it is no case.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CheckoutError(f"{path}: {error.strerror}") from None
    cases = [_case(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    return [case for case in cases if not only or case.id in only]


def _case(path: Path, number: int, line: str) -> Case:
    try:
        found: dict[str, Any] = json.loads(line)
        return Case(
            id=found["id"],
            repo=found["repo"],
            fix_commit=found["fix_commit"],
            file=found["file"],
            buggy_lines=tuple(found["buggy_lines"]),
            fixed_lines=tuple(found["fixed_snippet_lines"]),
            kind=found["kind"],
            evidence=found["evidence"],
            effect=found["effect"],
            local=found["local"],
        )
    except json.JSONDecodeError as error:
        raise CheckoutError(f"{path}:{number}:{error.colno}: {error.msg}") from None
    except (KeyError, TypeError) as error:
        raise CheckoutError(f"{path}:{number}:1: a case lacks {error}") from None


def extract(case: Case, side: Side, mirror: Path, out: Path, *, whole: bool) -> Path:
    """Write the file of a case, and with `whole` all Python files beside it; the file's path.

    What was written by an earlier run is taken as it is.

    Raises:
        CheckoutError: the checkout, the commit or the file is missing.
    """
    checkout = mirror / case.repo.replace("/", "+") / "repo"
    if not checkout.is_dir():
        raise CheckoutError(f"{case.id}: there is no checkout {checkout}")
    tree = out / case.id / side
    complete = out / case.id / f"{side}.complete"
    if whole and not complete.exists():
        packed = git(checkout, "archive", "--format=tar", case.commit(side), "--", "*.py")
        _unpack(packed, tree)
        complete.touch()
    path = tree / case.file
    if not path.exists():
        data = git(checkout, "show", f"{case.commit(side)}:{case.file}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path


def _unpack(packed: bytes, folder: Path) -> None:
    """Write the files of an archive, and neither links nor anything outside of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            target = (folder / member.name).resolve()
            content = archive.extractfile(member) if member.isfile() else None
            if content is None or not target.is_relative_to(folder.resolve()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
