"""Which files of a project mention a name: those that may call a function of another file.

Each file is read once, and a few bytes are kept of it that say which names it cannot have; whoever
asks reads the others again.  What is mentioned decides nothing: the walk of such a file does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from devicelint.workspace.contents import content_of

_MOST_FILES = 3_000
_LARGEST = 2**20
_BITS = 2**13
_NAME = re.compile(rb"[A-Za-z_]\w*")


class NamedFiles:
    """The names that the files below a folder mention."""

    def __init__(
        self, passed_over: Callable[[str], bool], endings: tuple[str, ...] = (".py",)
    ) -> None:
        """Read nothing yet; folders of some names are passed over, and files that end otherwise."""
        self._passed_over = passed_over
        self._endings = endings
        self._marks: dict[str, dict[str, int] | None] = {}

    def forget(self) -> None:
        """Read everything again."""
        self._marks.clear()

    def files(self, root: str, name: str) -> tuple[str, ...] | None:
        """The files that mention a name, those first that call it, and of these the short ones.

        None where a project has too many files to ask.
        """
        if root not in self._marks:
            self._marks[root] = self._read(root)
        marks = self._marks[root]
        if marks is None:
            return None
        written = os.fsencode(name)
        bit, mention = _bit(written), _mention_of(name)
        call = re.compile(rb"(?<![.\w])(?<!def )" + re.escape(written) + rb"\(")
        found: list[tuple[bool, int, str]] = []
        for one in (one for one, mark in marks.items() if mark & bit):
            data = _data(one)
            if mention.search(data):
                found.append((call.search(data) is None, len(data), one))
        return tuple(one for _, _, one in sorted(found))

    def _read(self, root: str) -> dict[str, int] | None:
        marks: dict[str, int] = {}
        for path in self._below(root):
            if len(marks) == _MOST_FILES:
                return None
            mark = 0
            for name in set(_NAME.findall(_data(path))):
                mark |= _bit(name)
            marks[path] = mark
        return marks

    def _below(self, root: str) -> Iterator[str]:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(one for one in folders if not self._passed_over(one))
            yield from (
                os.path.join(folder, one) for one in sorted(names) if one.endswith(self._endings)
            )


def mentioning(files: Iterable[str], name: str) -> Iterator[str]:
    """Those of some files that mention a name."""
    mention = _mention_of(name)
    return (one for one in files if mention.search(_data(one)))


def _mention_of(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"\b" + re.escape(os.fsencode(name)) + rb"\b")


def _bit(name: bytes) -> int:
    return 1 << hash(name) % _BITS


def _data(path: str) -> bytes:
    """What is in a file; nothing of one that cannot be read, or is too large for a program."""
    try:
        is_small = os.path.getsize(path) <= _LARGEST
    except OSError:
        return b""
    return (content_of(path) or b"") if is_small else b""
