"""What earlier runs found, for as long as nothing has changed on which it rests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from devicelint.cache import shard
from devicelint.cache.folder import DEFAULT_NAME, clean, of_version, prepare
from devicelint.cache.records import CachedResult, CacheGround, Record
from devicelint.cache.settled import SettledGrounds
from devicelint.cache.version import version
from devicelint.text.hashing import digest
from devicelint.workspace.import_resolver import ImportResolver, Question
from devicelint.workspace.summaries import Summaries

__all__ = ["DEFAULT_NAME", "Asked", "Cache", "clean"]

_NO_FILE = ("a folder", "not there")
"""What is found instead of the content of a file."""
_TEXTS = "texts.json"
"""What the texts of files tell, whatever these are called."""

Asked = Mapping[str, Mapping[Question, str | None]]
"""What was resolved in which file, and to what."""


class Cache:
    """Remembers what was found in files; on the disk, where it is given a folder.

    Several runs may share a folder: a file of it is replaced whole, and what is damaged is not
    believed.
    """

    keeps = True
    """Whether a later run, or a later look, asks for what is found."""

    def __init__(self, folder: Path | None, summaries: Summaries | None = None) -> None:
        """Read nothing yet; `summaries` are of texts, whichever run has read them."""
        self._folder = folder
        self._summaries = Summaries() if summaries is None else summaries
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
        self._look(is_first=True)

    def _look(self, *, is_first: bool) -> None:
        self._found.clear()
        self._new.clear()
        self._contents: dict[str, str] = {}
        self._answers: dict[tuple[str, Question], str | None] = {}
        self._resolver = ImportResolver(self._summaries)
        # Who writes files himself would have to read whole projects after each of them.
        self._settled = SettledGrounds(self._resolver, self._place, reads=is_first)
        self._ground = CacheGround(
            self._record, self._content, self._answer, self._settled.is_inside
        )

    @property
    def _place(self) -> Path | None:
        return None if self._folder is None else of_version(self._folder, self._version)

    def texts(self) -> dict[str, Any]:
        """What earlier runs know of texts, by their digests."""
        try:
            data = {} if self._place is None else shard.read_data(self._place / _TEXTS)
        except shard.DAMAGES:
            return {}
        return data if isinstance(data, dict) else {}

    def look_again(self) -> None:
        """Take no file for what it was before."""
        self._learned.clear()
        self._look(is_first=False)

    def get(self, home: str, content: str, key: str) -> Any:
        """What was found in a file with this content under the settings `key`; None if unknown."""
        self._contents[home] = content
        ground = self._settled.get(home)
        record = self._record(home)
        result = record.results.get(key) if record and record.digest == content else None
        if result is None:
            return None
        if result.rests_on != (ground or self._ground.of(home)):
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
        if self._folder is None:
            return
        if self._new or self._has_grown:
            self._save_results(prepare(self._folder, self._version))
        if (texts := self._summaries.new()) is not None:
            shard.write_data(prepare(self._folder, self._version) / _TEXTS, texts)
        if self._has_seen_no_change():
            found = {home for home, _ in self._found}
            inside = self._ground.inside()
            self._settled.save({home: inside[home] for home in found & inside.keys()})

    def _has_seen_no_change(self) -> bool:
        """Whether all files have held the same whenever they were read."""
        held = ((self._resolver.content(one), held) for one, held in self._contents.items())
        is_same = all(now == was or (not now and was in _NO_FILE) for now, was in held)
        return is_same and not self._resolver.has_seen_changes

    def _save_results(self, place: Path) -> None:
        # More may be known by now of files on which something rests that was found before.
        self._ground.forget()
        self._stamp(self._found)
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
            if (place := self._place) is not None:
                found.update(shard.read(place / _file_name(folder), folder))
        return found

    def _content(self, home: str) -> str:
        """What is in a file now."""
        found = self._contents.get(home)
        if found is None:
            found = self._resolver.content(home) or _instead_of_file(home)
            self._contents[home] = found
        return found

    def _answer(self, home: str, question: Question) -> str | None:
        # What stands in one folder finds the same, but for the packages of that folder itself.
        start = os.path.dirname(home) if question.level >= 0 else home
        if (start, question) not in self._answers:
            self._answers[start, question] = self._resolver.answer(home, question)
        return self._answers[start, question]


def _instead_of_file(home: str) -> str:
    return _NO_FILE[not os.path.isdir(home)]


def _file_name(folder: str) -> str:
    return f"{digest(folder.encode('utf-8', 'surrogatepass'))}.json"


def _still_there(folder: str, files: dict[str, Record]) -> dict[str, Record]:
    return {n: each for n, each in files.items() if os.path.lexists(os.path.join(folder, n))}
