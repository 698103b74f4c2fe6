"""Findings in public repositories that people have read: what they say of each.

A repository's verdicts lie in `OWNER+NAME.toml`, and hold for one commit. They name places, and
hold no code. A verdict is `right`, `wrong` or `debatable`; it is empty until somebody has read the
finding.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.checkouts import Checkout, CheckoutError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VERDICTS = ("right", "wrong", "debatable")


class Key(NamedTuple):
    """Which finding a verdict is about: the same code twice on a line is one."""

    file: str
    line: int
    code: str
    cell: int | None = None
    """Of a notebook, whose lines are those of the cell."""

    @property
    def place(self) -> str:
        """The file and the place in it."""
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.file}:{cell}{self.line}"


@dataclass(frozen=True)
class Verdict:
    """What a reader says of a finding, and why."""

    verdict: str
    reason: str


@dataclass
class Reviewed:
    """The verdicts on one repository.

    Attributes:
        repository: `owner/name`.
        commit: the state of the repository that was read.
        verdicts: what was said of each finding.
    """

    repository: str
    commit: str
    verdicts: dict[Key, Verdict] = field(default_factory=dict)

    def of(self, key: Key) -> Verdict | None:
        """What was said of a finding; None where nobody has read it."""
        found = self.verdicts.get(key)
        return found if found is not None and found.verdict else None


def read_reviewed(folder: Path, checkouts: Sequence[Checkout]) -> dict[str, Reviewed]:
    """The verdicts on each checkout, by its name; none where there is no file.

    Raises:
        CheckoutError: a file is no such table, or holds for another commit.
    """
    found = {}
    for checkout in checkouts:
        path = path_of(folder, checkout.name)
        if not path.is_file():
            continue
        reviewed = read_file(path)
        if reviewed.commit != checkout.commit:
            raise CheckoutError(
                f"{path} is about {reviewed.commit[:12]}, and {checkout.folder} is at"
                f" {checkout.commit[:12]}"
            )
        found[checkout.name] = reviewed
    return found


def path_of(folder: Path, repository: str) -> Path:
    """Where the verdicts on a repository lie."""
    return folder / f"{repository.replace('/', '+')}.toml"


def read_file(path: Path) -> Reviewed:
    """The verdicts of one file.

    Raises:
        CheckoutError: it is no such table.
    """
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        reviewed = Reviewed(table["repository"], table["commit"])
        for each in table.get("finding", []):
            verdict = Verdict(each["verdict"], each["reason"])
            if verdict.verdict not in ("", *VERDICTS):
                raise CheckoutError(f"{path}: {verdict.verdict!r} is no verdict")
            if verdict.verdict and not verdict.reason:
                raise CheckoutError(f"{path}: {each['file']}:{each['line']} has no reason")
            key = Key(each["file"], each["line"], each["code"], each.get("cell"))
            reviewed.verdicts[key] = verdict
    except tomllib.TOMLDecodeError as error:
        raise CheckoutError(f"{path}: {error}") from None
    except (KeyError, TypeError) as error:
        raise CheckoutError(f"{path}: a table lacks {error}") from None
    return reviewed


def _place(key: Key) -> tuple[str, int, int, str]:
    return key.file, key.cell or 0, key.line, key.code


def written(reviewed: Reviewed, keys: Iterable[Key]) -> str:
    """The verdicts on these findings as TOML; an empty one for what nobody has read."""
    lines = [
        f"repository = {json.dumps(reviewed.repository)}",
        f"commit = {json.dumps(reviewed.commit)}",
    ]
    for key in sorted(set(keys), key=_place):
        verdict = reviewed.verdicts.get(key, Verdict("", ""))
        lines += [
            "",
            "[[finding]]",
            f"file = {json.dumps(key.file)}",
            *([] if key.cell is None else [f"cell = {key.cell}"]),
            f"line = {key.line}",
            f"code = {json.dumps(key.code)}",
            f"verdict = {json.dumps(verdict.verdict)}",
            f"reason = {json.dumps(verdict.reason, ensure_ascii=False)}",
        ]
    return "\n".join(lines) + "\n"
