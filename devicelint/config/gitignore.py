"""Which files Git ignores: the rules of `.gitignore` files and of `.git/info/exclude`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".gitignore"


class FolderRules(NamedTuple):
    """A folder, and the rules that are written there."""

    folder: str
    spec: GitIgnoreSpec


@dataclass(frozen=True)
class GitIgnores:
    """Answers for many paths, and reads each file once.

    A path outside of a repository is not ignored. Rules of the user's own, `core.excludesFile`, are
    left out: what is checked must not depend on the machine.
    """

    _rules: dict[str, tuple[FolderRules, ...]] = field(default_factory=dict, repr=False)
    """By folder: those above it that have rules, itself included, the nearest first."""
    _specs: dict[Path, GitIgnoreSpec | None] = field(default_factory=dict, repr=False)
    """The rules that are written in each folder; None where it has none."""

    def ignores(self, path: str, *, is_folder: bool, start: str | None = None) -> bool:
        """Whether Git ignores `path` itself, which is in no folder that it ignores.

        Rules of the folders above `start` do not hold, if one is given.
        """
        absolute = os.path.abspath(path)
        for rules in self._above(os.path.dirname(absolute)):  # noqa: PTH120 - for each file met
            if start is not None and len(rules.folder) < len(start):
                break
            below = os.path.relpath(absolute, rules.folder)
            decided = rules.spec.check_file(f"{below}/" if is_folder else below).include
            if decided is not None:
                return decided
        return False

    def ignores_below(self, path: str) -> bool:
        """Whether Git ignores `path`, or a folder that it is in."""
        absolute = Path(os.path.abspath(path))
        folders = [each for each in absolute.parents if each != each.parent]
        return self.ignores(str(absolute), is_folder=absolute.is_dir()) or any(
            self.ignores(str(each), is_folder=True) for each in folders
        )

    def _above(self, folder: str) -> tuple[FolderRules, ...]:
        if folder not in self._rules:
            self._rules[folder] = tuple(self._rules_above(Path(folder)))
        return self._rules[folder]

    def _rules_above(self, folder: Path) -> Iterator[FolderRules]:
        """The folders with rules from one up to the root of its repository, if it is in one."""
        upwards = [folder, *folder.parents]
        root = next((each for each in upwards if (each / ".git").exists()), None)
        for each in upwards[: upwards.index(root) + 1] if root is not None else ():
            if each not in self._specs:
                self._specs[each] = _spec(each, is_root=each == root)
            if (spec := self._specs[each]) is not None:
                yield FolderRules(str(each), spec)


def _spec(folder: Path, *, is_root: bool) -> GitIgnoreSpec | None:
    """The rules of one folder; what cannot be read has none."""
    names = [".git/info/exclude", NAME] if is_root else [NAME]
    lines: list[str] = []
    for name in names:
        with suppress(OSError):
            lines += (folder / name).read_text("utf-8", "replace").splitlines()
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
