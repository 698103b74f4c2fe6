"""Which files Git ignores: the rules of `.gitignore` files and of `.git/info/exclude`."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".gitignore"


@dataclass(frozen=True)
class GitIgnores:
    """Answers for many paths, and reads each file once.

    A path outside of a repository is not ignored. Rules of the user's own, `core.excludesFile`, are
    left out: what is checked must not depend on the machine.
    """

    _specs: dict[str, GitIgnoreSpec | None] = field(default_factory=dict, repr=False)
    """The rules of each folder; None where it has none."""
    _roots: dict[str, bool] = field(default_factory=dict, repr=False)
    """Whether a folder is the root of a repository."""

    def ignores(self, path: str, *, is_folder: bool, start: str | None = None) -> bool:
        """Whether Git ignores `path` itself, which is in no folder that it ignores.

        Rules of the folders above `start` do not hold, if one is given.
        """
        folder, name = os.path.split(os.path.abspath(path))
        if not self._in_repository(folder):
            return False
        rest = f"{name}/" if is_folder else name
        while True:
            decided = self._decided(folder, rest)
            if decided is not None:
                return decided
            parent, name = os.path.split(folder)
            if folder in (start, parent) or self._is_root(folder):
                return False
            folder, rest = parent, f"{name}/{rest}"

    def ignores_below(self, path: str) -> bool:
        """Whether Git ignores `path`, or a folder that it is in."""
        absolute = Path(os.path.abspath(path))
        folders = [each for each in absolute.parents if each != each.parent]
        return self.ignores(str(absolute), is_folder=absolute.is_dir()) or any(
            self.ignores(str(each), is_folder=True) for each in folders
        )

    def _decided(self, folder: str, rest: str) -> bool | None:
        """What the rules of one folder say about a path below it; None where they say nothing."""
        if folder not in self._specs:
            self._specs[folder] = _spec(folder, is_root=self._is_root(folder))
        spec = self._specs[folder]
        return None if spec is None else spec.check_file(rest).include

    def _in_repository(self, folder: str) -> bool:
        return any(self._is_root(str(each)) for each in (Path(folder), *Path(folder).parents))

    def _is_root(self, folder: str) -> bool:
        if folder not in self._roots:
            self._roots[folder] = Path(folder, ".git").exists()
        return self._roots[folder]


def _spec(folder: str, *, is_root: bool) -> GitIgnoreSpec | None:
    """The rules of one folder; what cannot be read has none."""
    names = [".git/info/exclude", NAME] if is_root else [NAME]
    lines: list[str] = []
    for name in names:
        with suppress(OSError):
            lines += Path(folder, name).read_text("utf-8", "replace").splitlines()
    if not lines:
        return None
    # Imported late: a check of named files starts faster without it.
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # Git, too, goes on without the lines that make no sense.
        return GitIgnoreSpec.from_lines(filter(_is_pattern, lines))


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
