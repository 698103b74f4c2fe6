"""What the paths mean that an agent gives: from the working directory, or from a root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname


@dataclass(frozen=True)
class Folders:
    """The folders from which relative paths are looked up, the first of them first."""

    bases: tuple[Path, ...]

    @classmethod
    def of(cls, roots: Iterable[str]) -> Folders:
        """Return the working directory and the roots, given as URIs of a client.

        A working directory that is outside of all roots, such as the one in which a desktop
        program starts its servers, comes last.
        """
        here = Path.cwd()
        known = tuple(_paths(roots))
        is_outside = known and not any(here.is_relative_to(root) for root in known)
        return cls((*known, here) if is_outside else (here, *known))

    def named(self, path: str) -> str:
        """Return the path as reports name it: from the working directory, if it lies there."""
        place = Path(os.path.abspath(self._found(Path(path).expanduser())))
        here = Path.cwd()
        return str(place.relative_to(here)) if place.is_relative_to(here) else str(place)

    def _found(self, path: Path) -> Path:
        candidates = [base / path for base in self.bases]
        return next((place for place in candidates if place.exists()), candidates[0])


def _paths(uris: Iterable[str]) -> Iterator[Path]:
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme == "file":
            yield Path(url2pathname(parts.path))
