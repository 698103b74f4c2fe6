"""What earlier runs found, for as long as nothing has changed on which it rests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from devicelint.cache import shard
from devicelint.cache.folder import DEFAULT_NAME, clean, of_version, prepare
from devicelint.cache.records import CachedResult, CacheGround, Record
from devicelint.cache.version import version
from devicelint.text.hashing import digest
from devicelint.workspace.import_resolver import ImportResolver, Question

__all__ = ["DEFAULT_NAME", "Asked", "Cache", "clean"]

Asked = Mapping[str, Mapping[Question, str | None]]
"""What was resolved in which file, and to what."""


class Cache:
    """Remembers what was found in files; on the disk, where it is given a folder.

    Several runs may share a folder: a file of it is replaced whole, and what is damaged is not
    believed.
    """

    def __init__(self, folder: Path | None) -> None:
        """Read nothing yet."""
        self._folder = folder
        self._version = version() if folder else ""
        self._shards: dict[str, dict[str, Record]] = {}
        self._changed: dict[str, set[str]] = {}
        """The names of the files of which something new is known, by folder."""
        self._learned: dict[str, str] = {}
        """What was in the files that were read while others were checked."""
        self._found: dict[tuple[str, str], Any] = {}
        """What holds since `_look`, by home and settings."""
        self._new: dict[tuple[str, str], Any] = {}
        """What of that is not remembered yet."""
        self._has_grown = False
        self._look()

    def _look(self) -> None:
        self._found.clear()
        self._new.clear()
        self._contents: dict[str, str] = {}
        self._answers: dict[tuple[str, Question], str | None] = {}
        self._resolver = ImportResolver()
        self._ground = CacheGround(self._record, self._content, self._answer)

    def look_again(self) -> None:
        """Take no file for what it was before."""
        self._learned.clear()
        self._look()

    def get(self, home: str, content: str, key: str) -> Any:
        """What was found in a file with this content under the settings `key`; None if unknown."""
        self._contents[home] = content
        record = self._record(home)
        result = record.results.get(key) if record and record.digest == content else None
        if result is None or self._ground.of(home) != result.rests_on:
            return None
        self._found[home, key] = result.found
        return result.found

    def put(self, home: str, content: str, key: str, found: Any) -> None:
        """Take what was found in a file; `settle` learns on what that rests."""
        self._contents[home] = content
        self._learn(home, content, ())
        self._found[home, key] = self._new[home, key] = found

    def learn(self, asked: Asked, digests: Mapping[str, str | None]) -> None:
        """Know what was resolved, and what was in the files that were read for it.

        None where that has changed meanwhile.
        """
        for home, content in digests.items():
            self._learn(home, content, ())
        for home, questions in asked.items():
            was = digests[home] if home in digests else self._known_content(home)
            still = all(self._answer(home, q) == answer for q, answer in questions.items())
            self._learn(home, was if still else None, questions)

    def settle(self) -> None:
        """Remember what is new, where all on which it rests is as it was."""
        self._ground.forget()
        self._stamp(self._new)
        self._has_grown = self._has_grown or bool(self._new)
        self._new.clear()

    def save(self) -> None:
        """Write what was found, beside what other runs have written meanwhile; raises OSError."""
        if self._folder is None or not (self._new or self._has_grown):
            return
        # More may be known by now of files on which something rests that was found before.
        self._ground.forget()
        self._stamp(self._found)
        place = prepare(self._folder, self._version)
        for folder, names in self._changed.items():
            path = place / _file_name(folder)
            merged = _still_there(folder, shard.read(path, folder))
            for name in names:
                own, other = self._shards[folder][name], merged.get(name)
                merged[name] = own if other is None else own.joined(other)
            shard.write(path, folder, merged)
        self._changed.clear()
        self._has_grown = False

    def _stamp(self, found: Mapping[tuple[str, str], Any]) -> None:
        for (home, key), data in found.items():
            if rests_on := self._ground.of(home):
                self._keep(home, key, CachedResult(rests_on, data))

    def _keep(self, home: str, key: str, result: CachedResult) -> None:
        record = self._shard(home)[os.path.basename(home)]
        if record.results.get(key) != result:
            record.keep(key, result)
            self._mark_changed(home)

    def _known_content(self, home: str) -> str:
        record = self._record(home)
        return self._content(home) if record is None else record.digest

    def _learn(self, home: str, content: str | None, asked: Iterable[Question]) -> None:
        """Know what is in a file; where it was not always the same, nothing rests on it."""
        content = content or ""
        if self._learned.setdefault(home, content) != content:
            self._learned[home] = content = ""
        record = self._record(home)
        if record is None:
            record = Record("")
            self._shard(home)[os.path.basename(home)] = record
        if record.learn(content, asked):
            self._mark_changed(home)

    def _mark_changed(self, home: str) -> None:
        self._changed.setdefault(os.path.dirname(home), set()).add(os.path.basename(home))

    def _record(self, home: str) -> Record | None:
        return self._shard(home).get(os.path.basename(home))

    def _shard(self, home: str) -> dict[str, Record]:
        folder = os.path.dirname(home)
        found = self._shards.get(folder)
        if found is None:
            found = self._shards[folder] = {}
            if self._folder is not None:
                place = of_version(self._folder, self._version)
                found.update(shard.read(place / _file_name(folder), folder))
        return found

    def _content(self, home: str) -> str:
        """What is in a file now."""
        found = self._contents.get(home)
        if found is None:
            found = self._contents[home] = _on_disk(home)
        return found

    def _answer(self, home: str, question: Question) -> str | None:
        # What stands in one folder finds the same, but for the packages of that folder itself.
        start = os.path.dirname(home) if question.level >= 0 else home
        if (start, question) not in self._answers:
            self._answers[start, question] = self._resolver.answer(home, question)
        return self._answers[start, question]


def _on_disk(home: str) -> str:
    try:
        with open(home, "rb") as file:
            return digest(file.read())
    except OSError:
        return "a folder" if os.path.isdir(home) else "not there"


def _file_name(folder: str) -> str:
    return f"{digest(folder.encode('utf-8', 'surrogatepass'))}.json"


def _still_there(folder: str, files: dict[str, Record]) -> dict[str, Record]:
    return {n: each for n, each in files.items() if os.path.lexists(os.path.join(folder, n))}
