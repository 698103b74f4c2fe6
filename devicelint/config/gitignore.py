"""Which files Git ignores: the rules of `.gitignore` files and of `.git/info/exclude`."""

from __future__ import annotations

import os
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

    _rules: dict[str, tuple[FolderRules, ...] | None] = field(default_factory=dict, repr=False)
    """By folder: those above it that have rules, itself included, the nearest first.

    None for a folder that is in no repository.
    """

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
        """The folders with rules from one up to the root of its repository, if it is in one."""
        # Not a recursion: folders go deeper than Python's calls do.
        passed: list[str] = []
        while folder not in self._rules:
            above = os.path.dirname(folder)  # noqa: PTH120 - for each folder met
            if os.path.exists(os.path.join(folder, ".git")):  # noqa: PTH110, PTH118 - the same
                self._rules[folder] = _with_own(folder, (), is_root=True)
            elif above == folder:
                self._rules[folder] = None
            else:
                passed.append(folder)
                folder = above
        found = self._rules[folder]
        for each in reversed(passed):
            found = self._rules[each] = None if found is None else _with_own(each, found)
        return found or ()


def _with_own(
    folder: str, above: tuple[FolderRules, ...], *, is_root: bool = False
) -> tuple[FolderRules, ...]:
    spec = _spec(Path(folder), is_root=is_root)
    return above if spec is None else (FolderRules(folder, spec), *above)


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
