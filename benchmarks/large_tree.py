"""A tree of a thousand files, for what is only felt on many."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path

FILES = 1_000


def python_files(corpus: Path) -> list[Path]:
    """Every Python file of the corpus that is there, in a fixed order."""
    return sorted(path for path in corpus.rglob("*.py") if path.is_file())


def large_tree(folders: Sequence[Path], target: Path) -> Path:
    """Copy a thousand files to `target`: whole folders, the smallest first; again where few."""
    found = [(python_files(folder), folder) for folder in sorted(folders)]
    by_size = sorted(found, key=lambda pair: len(pair[0]))
    for copy, folder, file in islice(_again_and_again(by_size), FILES):
        root = target / f"{folder.name}{copy}"
        place = root / file.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
        # It marks the root of a project: no import leads from one copy to the next.
        (root / "pyproject.toml").touch()
    return target


def _again_and_again(found: list[tuple[list[Path], Path]]) -> Iterator[tuple[int, Path, Path]]:
    if not any(files for files, _ in found):
        return
    for copy in count(1):
        for files, folder in found:
            yield from ((copy, folder, file) for file in files)
