"""Which files of public repositories are adopted, and what became of each: `adopted/*.toml`.

The list of a repository holds for one commit. It names files, and holds no code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.checkouts import Checkout, CheckoutError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KINDS = ("none", "cuda")
"""What a file does with devices before: nothing, or `.cuda()` whatever machine it is on."""


@dataclass(frozen=True)
class Listed:
    """One script or notebook.

    Attributes:
        path: where it lies in the repository.
        kind: one of `KINDS`.
        arguments: what it is started with.
        inputs: what it finds around it, by the names in `inputs.py`.
        excuse: why it cannot be run offline, where nobody needs to try.
        adopted: `clean`, or what was not as it should be.
        left: what adoption left to the reader: a line and a code each.
        ran: `same`, `not runnable`, or what was not as it should be.
        told: why, in the words of what ended the run.
    """

    path: str
    kind: str
    arguments: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    excuse: str = ""
    adopted: str = ""
    left: tuple[str, ...] = ()
    ran: str = ""
    told: str = ""

    @property
    def is_notebook(self) -> bool:
        """Whether it has cells."""
        return self.path.endswith(".ipynb")


@dataclass(frozen=True)
class Repository:
    """The files of one repository at one commit."""

    name: str
    commit: str
    files: tuple[Listed, ...]


def path_of(folder: Path, repository: str) -> Path:
    """Where the list of a repository lies."""
    return folder / f"{repository.replace('/', '+')}.toml"


def read_lists(folder: Path) -> list[Repository]:
    """All lists of a folder, in the order of their names.

    Raises:
        CheckoutError: one of them cannot be read.
    """
    return [read_list(path) for path in sorted(folder.glob("*.toml"))]


def read_list(path: Path) -> Repository:
    """The list of one file.

    Raises:
        CheckoutError: it is no such table.
    """
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        listed = tuple(_listed(path, entry) for entry in table["file"])
        return Repository(table["repository"], table["commit"], listed)
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise CheckoutError(f"{path}: {error}") from None
    except KeyError as error:
        raise CheckoutError(f"{path}: a table lacks {error}") from None


def _listed(path: Path, entry: dict[str, Any]) -> Listed:
    frozen: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()
    }
    listed = Listed(**frozen)
    if listed.kind not in KINDS:
        raise CheckoutError(f"{path}: {listed.kind!r} is no kind")
    return listed


def written(repository: Repository) -> str:
    """A list as TOML: what is not said is left out."""
    lines = [
        f"repository = {json.dumps(repository.name)}",
        f"commit = {json.dumps(repository.commit)}",
    ]
    for listed in repository.files:
        lines += ["", "[[file]]", *_entry(listed)]
    return "\n".join(lines) + "\n"


def _entry(listed: Listed) -> Iterable[str]:
    for field in fields(listed):
        value = getattr(listed, field.name)
        if value:
            plain = list(value) if isinstance(value, tuple) else value
            yield f"{field.name} = {json.dumps(plain, ensure_ascii=False)}"


def matched(repository: Repository, checkouts: Iterable[Checkout]) -> Checkout | None:
    """The checkout that a list is about; None where there is none.

    Raises:
        CheckoutError: it is at another commit.
    """
    for checkout in checkouts:
        if checkout.name == repository.name:
            if checkout.commit != repository.commit:
                raise CheckoutError(
                    f"the list of {repository.name} is about {repository.commit[:12]}, and"
                    f" {checkout.folder} is at {checkout.commit[:12]}"
                )
            return checkout
    return None
