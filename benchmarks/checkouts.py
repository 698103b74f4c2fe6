"""Checkouts of public repositories: which there are below a folder, and at which commit."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devicelint.cli.run.search import python_files
from devicelint.config import Config

DEEPEST = 3
"""So many folders down, a checkout is looked for."""


class CheckoutError(Exception):
    """Something that is not there, or cannot be read, told in one line."""


@dataclass(frozen=True, order=True)
class Checkout:
    """The files of a repository at one commit.

    Attributes:
        name: the repository, as `owner/name` where that is known.
        commit: the full hash.
        folder: where the files lie.
    """

    name: str
    commit: str
    folder: Path

    def files(self, notebooks: bool = False) -> Iterator[Path]:
        """The Python files, in a fixed order; the notebooks, where these are asked for."""
        for found in python_files([self.folder], Config(respect_gitignore=False)):
            if isinstance(found, Path) and (found.suffix == ".ipynb") is notebooks:
                yield found

    def relative(self, path: Path | str) -> str:
        """A file as the repository calls it."""
        return Path(path).relative_to(self.folder).as_posix()


def checkouts_below(folder: Path) -> list[Checkout]:
    """The checkouts of a folder, itself among them, in the order of their names.

    A checkout is a work tree of git, or a folder `NAME` with the hash of its commit in
    `NAME.commit` beside it. `OWNER+NAME`, or `OWNER+NAME/repo`, says whose it is.

    Raises:
        CheckoutError: there is none.
    """
    found = sorted(_found(folder.resolve(), DEEPEST))
    if not found:
        raise CheckoutError(
            f"{folder} holds no checkout: neither a work tree of git, nor a folder NAME with the"
            " hash of its commit in NAME.commit beside it"
        )
    return found


def _found(folder: Path, deepest: int) -> Iterator[Checkout]:
    commit = _commit(folder)
    if commit is not None:
        yield Checkout(_name(folder), commit, folder)
    elif deepest and folder.is_dir():
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                yield from _found(entry, deepest - 1)


def _commit(folder: Path) -> str | None:
    beside = folder.with_name(f"{folder.name}.commit")
    if beside.is_file():
        return beside.read_text(encoding="utf-8").strip()
    if not (folder / ".git").exists():
        return None
    return git(folder, "rev-parse", "HEAD").decode().strip()


def _name(folder: Path) -> str:
    written = folder.parent.name if folder.name == "repo" else folder.name
    return written.replace("+", "/")


def git(folder: Path, *words: str) -> bytes:
    """What a command of git says in a folder.

    Raises:
        CheckoutError: it fails.
    """
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise CheckoutError(f"{folder}: git {words[0]}: {told[-1] if told else 'failed'}")
    return done.stdout
