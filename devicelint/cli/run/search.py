"""Which files of the folders that a command line names are checked."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from devicelint.config import Config
from devicelint.config.gitignore import GitIgnores
from devicelint.finding import InputError
from devicelint.workspace.files import PASSED_OVER, file_problem

_SUFFIXES = frozenset({".py", ".pyw", ".ipynb"})


def python_files(
    paths: Iterable[Path],
    config: Config,
    config_for: Callable[[Path], Config] | None = None,
    *,
    force_exclude: bool = False,
) -> Iterator[Path | InputError]:
    """The files to check, each once, in a fixed order; an InputError for what cannot be searched.

    What `paths` names is meant: such a file is checked whatever it is called, and such a folder is
    searched, for `*.py`, `*.pyw` and notebooks; Markdown, which may show on purpose what is wrong,
    is checked where it is named.  On the way down, environments, caches and the like, the
    configuration's `exclude`, what Git ignores, and links to folders (which may go round in
    circles) are passed over.
    `config_for` gives the configuration of a folder further down, where that may be another one.
    With `force_exclude`, what `paths` names is passed over as well where `exclude` covers it: hooks
    name every file.
    """
    search = _Search(config_for or (lambda _: config))
    for path in paths:
        if not (force_exclude and search.is_left_out(path, config)):
            yield from search.named(path)


@dataclass
class _Search:
    """Remembers which files it has met, so that each comes up once."""

    config_for: Callable[[Path], Config]
    configs: dict[str, Config | None] = field(default_factory=dict)
    """What holds in each folder; None where that cannot be understood, as is reported elsewhere."""
    met: set[Path] = field(default_factory=set)
    git: GitIgnores = field(default_factory=GitIgnores)
    start: str | None = None
    """The folder that is searched, where Git ignores it itself: it was named all the same."""

    def is_left_out(self, path: Path, config: Config) -> bool:
        """Whether a search from the root would not come to a path."""
        by_git = config.respect_gitignore and self.git.ignores_below(str(path))
        return by_git or config.excludes_below(path)

    def named(self, path: Path) -> Iterator[Path | InputError]:
        """What a path that somebody named stands for."""
        try:
            if stat.S_ISDIR(path.stat().st_mode):
                folder = os.path.abspath(path)
                self.start = folder if self.git.ignores_below(folder) else None
                yield from self._inside(_entries(path))
            else:
                yield from self._once(path)
        except OSError as error:
            yield file_problem(path, error)
        except ValueError as error:  # A name with a NUL in it.
            yield InputError(str(path), 1, 0, f"cannot be read: {error}")

    def _inside(self, pending: list[os.DirEntry[str]]) -> Iterator[Path | InputError]:
        # A stack and not a recursion: folders go deeper than Python's calls do.
        while pending:
            entry = pending.pop()
            is_folder = entry.is_dir(follow_symlinks=False)
            if not (is_folder or _is_read(entry.name)):
                continue
            if self._is_excluded(entry.path, is_folder=is_folder):
                continue
            path = Path(entry.path)
            if is_folder:
                try:
                    pending += _entries_to_search(path)
                except OSError as error:
                    yield file_problem(path, error)
            elif _may_be_file(entry):
                yield from self._once(path)

    def _is_excluded(self, path: str, *, is_folder: bool) -> bool:
        folder = os.path.dirname(path)  # noqa: PTH120 - a tenth of what a Path costs
        if folder not in self.configs:
            try:
                self.configs[folder] = self.config_for(Path(folder))
            except InputError:
                self.configs[folder] = None
        config = self.configs[folder]
        if config is None:
            return False
        return config.excludes(path) or (
            config.respect_gitignore
            and self.git.ignores(path, is_folder=is_folder, start=self.start)
        )

    def _once(self, path: Path) -> Iterator[Path]:
        # Not Path.resolve, which raises for a link to itself.
        identity = Path(os.path.realpath(path))
        if identity not in self.met:
            self.met.add(identity)
            yield path


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What a folder holds, last name first."""
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name, reverse=True)


def _entries_to_search(folder: Path) -> list[os.DirEntry[str]]:
    """What of a folder met on the way is to be searched: nothing of a virtual environment."""
    if folder.name in PASSED_OVER:
        return []
    entries = _entries(folder)
    return [] if any(entry.name == "pyvenv.cfg" for entry in entries) else entries


def _is_read(name: str) -> bool:
    """Whether a file of this name is searched for; one that is only an ending is not."""
    stem, dot, suffix = name.rpartition(".")
    return bool(stem) and dot + suffix in _SUFFIXES


def _may_be_file(entry: os.DirEntry[str]) -> bool:
    """Not a link to a folder, and not a lock of Emacs: a link from `.#name` to nowhere."""
    try:
        is_folder = entry.is_dir()
    except OSError:
        is_folder = False
    return not is_folder and not (entry.is_symlink() and entry.name.startswith(".#"))
