"""Which files of a project mention a name: those that may call a function of another file.

What is mentioned decides nothing: the walk of such a file does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from devicelint.workspace.contents import content_of
from devicelint.workspace.summaries import Files
from devicelint.workspace.summaries.summary import Summary

_MOST_FILES = 3_000
_MOST_PROJECTS = 4
"""Of so many projects it stays known which names are mentioned where: it takes much memory."""
_LARGEST = 2**20


@dataclass(frozen=True)
class _Mentions:
    """Which of some files mention a name, and which call it, by their numbers."""

    files: Sequence[tuple[str, Summary]]
    mentioned: dict[str, list[int]] = field(default_factory=dict)
    called: dict[str, list[int]] = field(default_factory=dict)
    found: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note what each file has."""
        for number, (_, summary) in enumerate(self.files):
            for name in summary.names.split():
                self.mentioned.setdefault(name, []).append(number)
            for name in summary.called.split():
                self.called.setdefault(name, []).append(number)

    def of(self, name: str) -> tuple[str, ...]:
        """The files that mention a name, those first that call it, and of these the short ones."""
        if name not in self.found:
            ordered = sorted(self._looked_for(name) if name.isascii() else self._searched_for(name))
            self.found[name] = tuple(path for _, _, path in ordered)
        return self.found[name]

    def _looked_for(self, name: str) -> Iterator[tuple[bool, int, str]]:
        called = frozenset(self.called.get(name, ()))
        for number in self.mentioned.get(name, ()):
            path, summary = self.files[number]
            yield number not in called, summary.size, path

    def _searched_for(self, name: str) -> Iterator[tuple[bool, int, str]]:
        written, mention = os.fsencode(name), _mention_of(name)
        call = re.compile(rb"(?<![.\w])(?<!def )" + re.escape(written) + rb"\(")
        for path, summary in self.files:
            if summary.size <= _LARGEST and mention.search(data := content_of(path) or b""):
                yield call.search(data) is None, len(data), path


class NamedFiles:
    """The names that the files below a folder mention."""

    def __init__(
        self,
        passed_over: Callable[[str], bool],
        endings: tuple[str, ...] = (".py",),
        files: Files | None = None,
    ) -> None:
        """Read nothing yet; folders of some names are passed over, and files that end otherwise."""
        self._passed_over = passed_over
        self._endings = endings
        self._files = Files() if files is None else files
        self._mentions_below = lru_cache(_MOST_PROJECTS)(self._read)

    def forget(self) -> None:
        """Read everything again."""
        self._files.forget()
        self._mentions_below.cache_clear()

    def files(self, root: str, name: str) -> tuple[str, ...] | None:
        """The files that mention a name, those first that call it, and of these the short ones.

        None where a project has too many files to ask.
        """
        mentions = self._mentions_below(root)
        return None if mentions is None else mentions.of(name)

    def _read(self, root: str) -> _Mentions | None:
        found: list[tuple[str, Summary]] = []
        for number, path in enumerate(self._below(root)):
            if number == _MOST_FILES:
                return None
            if (summary := self._files.summary(path)) is not None:
                found.append((path, summary))
        return _Mentions(found)

    def _below(self, root: str) -> Iterator[str]:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(one for one in folders if not self._passed_over(one))
            yield from (
                os.path.join(folder, one) for one in sorted(names) if one.endswith(self._endings)
            )


def mentioning(paths: Iterable[str], name: str, files: Files) -> Iterator[str]:
    """Those of some files that mention a name."""
    for path in paths:
        summary = files.summary(path)
        if summary is not None and _mentions(summary, path, name):
            yield path


def _mentions(summary: Summary, path: str, name: str) -> bool:
    if name.isascii():
        return summary.mentions(name)
    return summary.size <= _LARGEST and bool(_mention_of(name).search(content_of(path) or b""))


def _mention_of(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"\b" + re.escape(os.fsencode(name)) + rb"\b")
