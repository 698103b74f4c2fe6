"""Which files a pattern of the configuration means: the rules of .gitignore, without negation.

`*`, `?` and `[…]` stay inside of one name, `**` stands for any number of folders.  A pattern with a
slash is a path from the configuration's folder; one without is a name at any depth.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Anchored:
    """A pattern that starts from another folder than that of the configuration."""

    text: str
    folder: Path

    def __str__(self) -> str:
        return self.text


Pattern = str | Anchored


@lru_cache(maxsize=1024)
def _segments(pattern: str) -> tuple[str, ...]:
    plain = pattern.strip().removeprefix("./").rstrip("/")
    segments = tuple(each for each in plain.split("/") if each)
    return ("**", *segments) if segments and "/" not in plain else segments


def matches(pattern: str, path: str) -> bool:
    """Whether `pattern` means exactly `path`, written from the configuration's folder, with `/`."""
    segments = _segments(pattern)
    if segments[:1] == ("**",) and len(segments) == 2 and segments[1] != "**":
        return fnmatchcase(path.rpartition("/")[2], segments[1])  # A name at any depth.
    return _match(segments, tuple(path.split("/")))


def covers(pattern: str, path: str) -> bool:
    """Whether `pattern` means `path` or a folder that it is in."""
    names = path.split("/")
    prefixes = ("/".join(names[:length]) for length in range(1, len(names) + 1))
    return any(matches(pattern, prefix) for prefix in prefixes)


def first_meaning(
    patterns: Iterable[Pattern], path: str | Path, root: Path, means: Callable[[str, str], bool]
) -> Pattern | None:
    """The first of the patterns that means `path`, seen from the folder of each, or from `root`."""
    seen: dict[Path, str] = {}
    for each in patterns:
        start = each.folder if isinstance(each, Anchored) else root
        if start not in seen:
            seen[start] = _relative(path, start)
        if means(str(each), seen[start]):
            return each
    return None


def _relative(path: str | Path, start: Path) -> str:
    """`path` as a path pattern sees it: from its folder, with `/`."""
    try:
        return os.path.relpath(path, start).replace(os.sep, "/")
    except ValueError:  # On another drive, there is no way from here to there.
        return Path(path).as_posix()


def _match(segments: tuple[str, ...], names: tuple[str, ...]) -> bool:
    # reached[i]: the first i segments can stand for the names read so far.
    reached = [True] + [False] * len(segments)
    _pass_over_stars(segments, reached)
    for name in names:
        following = [False] * len(reached)
        for index, segment in enumerate(segments):
            if segment == "**":
                following[index + 1] = reached[index] or reached[index + 1]
                following[index] = following[index] or reached[index]
            elif reached[index] and fnmatchcase(name, segment):
                following[index + 1] = True
        if True not in following:
            return False
        _pass_over_stars(segments, following)
        reached = following
    # A pattern that ends in `/**` means what is inside of a folder, not the folder.
    return reached[-1]


def _pass_over_stars(segments: tuple[str, ...], reached: list[bool]) -> None:
    """`**` may stand for no name at all, except at the end."""
    for index, segment in enumerate(segments[:-1]):
        if segment == "**" and reached[index]:
            reached[index + 1] = True
