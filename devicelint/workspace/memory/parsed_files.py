"""The files of a project that stay parsed: those that the last checks have used, and some more."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from devicelint.interpreter.engine.nodes import forget_nodes
from devicelint.interpreter.engine.program import Program
from devicelint.workspace.contents import Version

MOST_LINES = 40_000
"""So many lines stay parsed, some two kibibytes each, while the last checks have used them."""
FEW_LINES = 8_000
"""So many stay parsed, whoever has used them."""
RECENT_CHECKS = 100
_MOST_LINES_FREED = 4_000
"""What is remembered of nodes would keep more of them."""


class ParsedFile(NamedTuple):
    """A file, as it was when it was parsed."""

    version: Version | str
    """What changes when its text does."""
    program: Program


class ParsedFiles:
    """Parsed files by their homes, those first that nobody has asked for the longest.

    `on_drop` is told which of them are not kept any more.
    """

    def __init__(self, on_drop: Callable[[str], object]) -> None:
        """Keep nothing yet."""
        self._on_drop = on_drop
        self._files: OrderedDict[str, ParsedFile] = OrderedDict()
        self._needed_once: set[str] = set()
        self._checked = ""
        self._checks = 0
        self._used: dict[str, int] = {}
        """The check for which each was asked last."""
        self._lines = self._lines_freed = 0

    def begin_check(self, home: str) -> None:
        """Know that a file is checked now; perhaps it was before, with another text."""
        if home == self._checked:
            return
        self._checked = home
        self._checks += 1
        for one in self._needed_once & self._files.keys():
            self._files.move_to_end(one, last=False)
            self._used[one] = -RECENT_CHECKS
        self._needed_once.clear()

    def get(self, home: str) -> ParsedFile | None:
        """A file, if it is kept; whether it is kept longer is not touched by this."""
        return self._files.get(home)

    def latest(self) -> Iterator[Program]:
        """What is kept, beginning with what was asked for last."""
        return (one.program for one in reversed(self._files.values()))

    def snapshot(self) -> dict[str, ParsedFile]:
        """What is kept now."""
        return dict(self._files)

    def use(self, home: str) -> None:
        """Keep a file longer than those that were asked for before."""
        self._used[home] = self._checks
        self._files.move_to_end(home)
        self._needed_once.discard(home)

    def needed_once(self, home: str) -> None:
        """Keep a file no longer than for this check, if nobody asks for it once more."""
        self._needed_once.add(home)

    def outdate(self, home: str, program: Program) -> None:
        """Take something else for a file whose text is the same."""
        self._files[home] = self._files[home]._replace(program=program)

    def keep(self, home: str, version: Version | str, program: Program) -> None:
        """Keep a file, and drop those that nobody needs, so that memory stays flat."""
        replaced = self._files.pop(home, None)
        self._lines += program.lines - (replaced.program.lines if replaced is not None else 0)
        self._files[home] = ParsedFile(version, program)
        self._used[home] = self._checks
        while len(self._files) > 1 and self._is_too_much():
            self._drop_first()
        if self._lines_freed > _MOST_LINES_FREED:
            self._lines_freed = 0
            forget_nodes()

    def _is_too_much(self) -> bool:
        if self._lines <= FEW_LINES:
            return False
        is_recent = self._used[next(iter(self._files))] > self._checks - RECENT_CHECKS
        return self._lines > MOST_LINES or not is_recent

    def _drop_first(self) -> None:
        home, (_, program) = self._files.popitem(last=False)
        del self._used[home]
        self._on_drop(home)
        self._lines -= program.lines
        self._lines_freed += program.lines
