"""What git says of a repository's commits: which Python files each changed, and how."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

from benchmarks.checkouts import CheckoutError, git

Branches = Literal["all", "head"]

_WORDS = r"cuda|device|cpu|gpu|map_location|type_as|\.to\(|new_|_like|register_buffer"
"""What a line has that this looks at: which commits git is to show, and no more than that."""


@dataclass(frozen=True)
class Change:
    """What a commit did to one file.

    Attributes:
        commit: the full hash.
        file: its name.
        before: the hash of its content in the parent.
        after: the hash of its content in the commit.
        added: so many lines came.
        removed: so many lines went.
    """

    commit: str
    file: str
    before: str
    after: str
    added: int
    removed: int

    @property
    def size(self) -> int:
        """So many lines were changed, on the side that has more of them."""
        return max(self.added, self.removed)


def changes_of(repository: Path, branches: Branches) -> Iterator[Change]:
    """Yield what each commit that is no merge did to each Python file, from the oldest on.

    Raises:
        CheckoutError: git cannot say.
    """
    told = git(
        repository,
        *("log", "--no-merges", "--reverse", "--topo-order", "--format=%x00%H", "--no-renames"),
        *("--raw", "--numstat", "--no-abbrev", "--diff-filter=M", f"-G{_WORDS}", "-z"),
        *("--extended-regexp", "--all" if branches == "all" else "HEAD", "--", "*.py"),
    )
    commit, blobs = "", dict[str, tuple[str, str]]()
    fields = iter(told.decode("utf-8", "replace").split("\0"))
    for field in fields:
        line = field.strip("\n")
        if line.startswith(":"):
            _, _, before, after, _ = line.split()
            blobs[next(fields)] = before, after
        elif "\t" in line:
            added, removed, file = line.split("\t", 2)
            if added != "-":
                yield Change(commit, file, *blobs[file], int(added), int(removed))
        elif line:
            commit, blobs = line, {}


class Contents(AbstractContextManager["Contents"]):
    """The contents of a repository by their hashes, from one process of git."""

    def __init__(self, repository: Path) -> None:
        """Start git."""
        command = ["git", "-C", str(repository), "cat-file", "--batch"]
        self._git = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def text(self, blob: str) -> str:
        """A file's text.

        Raises:
            CheckoutError: there is none.
            UnicodeDecodeError: it is no text.
        """
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        self._git.stdin.write(f"{blob}\n".encode())
        self._git.stdin.flush()
        told = self._git.stdout.readline().split()
        if told[-1] == b"missing":
            raise CheckoutError(f"git has no {blob}")
        data = self._git.stdout.read(int(told[-1]) + 1)
        return data[:-1].decode("utf-8")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End git."""
        self._git.communicate()
