"""The folder of the cache: what marks it, and what `devicelint clean` may remove of it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

DEFAULT_NAME = ".devicelint_cache"

_MARKS = {
    "CACHEDIR.TAG": (
        "Signature: 8a477f597d28d172789f06886806bc55\n"
        "# What devicelint has found already; see https://bford.info/cachedir/\n"
    ),
    ".gitignore": "# Made by devicelint.\n*\n",
}
_FOUND = "found-"
"""How the folders begin that hold what was found, one for each version."""
_MOST_VERSIONS = 4


def prepare(folder: Path, version: str) -> Path:
    """Return where one version keeps what it finds, made where it is missing; raises OSError."""
    found = folder / f"{_FOUND}{version}"
    if not found.is_dir():
        found.mkdir(parents=True, exist_ok=True)
        for name, content in _MARKS.items():
            if not (folder / name).exists():
                (folder / name).write_text(content, encoding="utf-8", newline="\n")
        _forget_old_versions(folder)
    return found


def of_version(folder: Path, version: str) -> Path:
    """Return where one version keeps what it finds, whether that is there or not."""
    return folder / f"{_FOUND}{version}"


def _forget_old_versions(folder: Path) -> None:
    import shutil  # It takes longer than what a warm run does with the cache.

    versions = sorted(folder.glob(f"{_FOUND}*"), key=os.path.getmtime, reverse=True)
    for old in versions[_MOST_VERSIONS:]:
        shutil.rmtree(old, ignore_errors=True)


def clean(folder: Path) -> bool:
    """Remove a cache, and nothing else that may lie in its folder; whether there was one.

    Raises OSError where it cannot be removed.
    """
    import shutil

    versions = list(folder.glob(f"{_FOUND}*"))
    if not versions and not is_cache(folder):
        return False
    for version in versions:
        shutil.rmtree(version)
    for name, content in _MARKS.items():
        mark = folder / name
        if mark.is_file() and mark.read_text(encoding="utf-8", errors="replace") == content:
            mark.unlink()
    with suppress(OSError):  # Where others keep something there, it stays.
        folder.rmdir()
    return True


def is_cache(folder: Path) -> bool:
    """Whether a folder is one that devicelint has made."""
    tag = folder / "CACHEDIR.TAG"
    return tag.is_file() and "devicelint" in tag.read_text(encoding="utf-8", errors="replace")
