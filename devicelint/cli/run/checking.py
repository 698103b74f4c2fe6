"""What is wrong in each file of a run: remembered, found by a process of its own, or found here."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devicelint.cache import DEFAULT_NAME, Cache
from devicelint.cache.codec import checked_of, error_data, found_data
from devicelint.cli.run.examine import examine
from devicelint.cli.run.inputs import FileInput, Input
from devicelint.cli.run.jobs import number
from devicelint.finding import InputError
from devicelint.linter.result import CheckResult
from devicelint.rule_index import plugged_in
from devicelint.text.hashing import digest
from devicelint.workspace.summaries import Summaries

if TYPE_CHECKING:
    from devicelint.cli.run.processes import Processes
    from devicelint.cli.run.worker import Answer
    from devicelint.config import Config
    from devicelint.text.source import SourceFile
    from devicelint.workspace.project import Project

_NOTHING: list[list[Any]] = [[], [], []]
"""What is known of a file in which nothing is found, suppressed, or assumed."""


@dataclass(frozen=True)
class _Read:
    """A file as it was read, all that decides what is found in it, and what is known of that."""

    data: bytes
    content: str
    config: Config
    key: str
    known: Any


class Checking:
    """Checks the files of one run, each with as little work as it takes."""

    def __init__(self, options: Namespace, config_of: Callable[[Input], Config]) -> None:
        """Open nothing yet."""
        self._options = options
        self._config_of = config_of
        self._caches: dict[Path | None, Cache] = {}
        self._summaries = Summaries(self._remembered_texts)
        self._settings: dict[Config, tuple[Config, str]] = {}
        self._at_hand: tuple[FileInput, _Read] | None = None
        """What was read last."""
        self.files = 0
        """How many there are."""
        self._processes: Processes | None = None
        self._sent: dict[str, tuple[FileInput, Config, str]] = {}
        """What processes are checking, by path: the file, its settings, and a digest of these."""
        self._ahead: dict[str, CheckResult | InputError] = {}
        """What was found in files whose turn has not come."""

    @cached_property
    def project(self) -> Project:
        """The files that imports lead to."""
        from devicelint.workspace.project import Project

        return Project(self._summaries)

    def _remembered_texts(self) -> dict[str, Any]:
        caches = self._caches.values()
        return {content: one for cache in caches for content, one in cache.texts().items()}

    @property
    def has_parsed(self) -> bool:
        """Whether there are trees, here in this process."""
        return "project" in self.__dict__

    def in_turn(self, found: Iterable[Input]) -> Iterator[Input]:
        """The files in their order; while they come, processes may be at work on later ones."""
        found = list(found)
        self.files = len(found)
        if self._options.jobs == 1:
            yield from found
            return
        waiting: list[Input] = []
        for each in found:
            if waiting or not self._is_known(each):
                waiting.append(each)
            else:
                yield each
        self._begin(waiting)
        yield from waiting

    def checked(self, each: Input) -> CheckResult:
        """What is found in a file; raises InputError."""
        if not isinstance(each, FileInput):
            return examine(each.source(), self._config_of(each), lambda: self.project)
        read = self._read_in_turn(each)
        if (ahead := self._ahead.pop(each.path, None)) is not None:
            if isinstance(ahead, InputError):
                raise ahead
            return ahead
        return self._found_in(each, read)

    def _found_in(self, each: FileInput, read: _Read) -> CheckResult:
        source = each.source_of(read.data)
        if read.known is not None:
            with suppress(ValueError, TypeError, LookupError):  # Of a cache that is none of ours.
                return checked_of(source, read.known)
        return self._examined(each, source, read)

    def known_clean(self, each: Input) -> CheckResult | None:
        """A file in which nothing is found, where that is known already."""
        if isinstance(each, FileInput):
            with suppress(InputError):  # It is reported by whoever works on the file then.
                read = self._read_in_turn(each)
                if read.known == _NOTHING:
                    return CheckResult(each.source_of(read.data), ())
        return None

    def learn_clean(self, each: Input, source: SourceFile) -> None:
        """Remember a file in which nothing is found."""
        if isinstance(each, FileInput):
            config, key = self._settings_of(each)
            if not config.assume:  # What of that is met in a file, is not known here.
                self._cache(config).put(each.home, digest(source.to_bytes()), key, _NOTHING)

    def take_over(self, before: list[Checking]) -> None:
        """Go on with what an earlier run knows, and leave that to the next one."""
        for one in before:
            self._caches, self._summaries = one._caches, one._summaries
            self.look_again()
            if one.has_parsed:
                self.project = one.project
                self.project.look_again()
        before[:] = [self]

    def look_again(self) -> None:
        """Take no file for what it was before: some have been written."""
        self._at_hand = None
        for cache in self._caches.values():
            cache.look_again()

    def close(self) -> None:
        """Keep what was found for later runs; where that cannot be written, it is not."""
        if self._processes is not None:
            self._processes.close()
        for cache in self._caches.values():
            if self.has_parsed and self._is_looked_at_later:
                cache.learn(self.project.asked, self.project.digests)
            with suppress(OSError):
                cache.save()

    @property
    def _is_looked_at_later(self) -> bool:
        """Whether what is known at the end is of use to anybody."""
        return not self._options.no_cache or bool(getattr(self._options, "watch", False))

    def _is_known(self, each: Input) -> bool:
        """Whether nothing has to be found out about a file."""
        if isinstance(each, FileInput):
            with suppress(InputError):  # It is reported when the turn of the file comes.
                self._at_hand = each, self._read(each)
                return self._at_hand[1].known is not None
        return True

    def _begin(self, waiting: list[Input]) -> None:
        """Let processes check what is not known, where it is enough for that."""
        files = list(self._to_send(waiting))
        jobs = number(self._options.jobs, sum(size for *_, size in files))
        if jobs > 1 and len(files) > 1:
            from devicelint.cli.run.processes import Processes

            ahead = None if self._looks_again else self._check_ahead
            self._processes = Processes(jobs, files, self._learn, ahead)

    def _check_ahead(self, path: str) -> None:
        """Check a file before its turn comes."""
        file, *_ = self._sent[path]
        # Whatever else it raises, it raises again when it is checked in turn.
        with suppress(Exception):
            try:
                self._ahead[path] = self._found_in(file, self._read(file))
            except InputError as error:
                self._ahead[path] = error

    def _to_send(self, waiting: list[Input]) -> Iterator[tuple[str, Config, int]]:
        for each in waiting:
            if not self._is_known(each) and self._at_hand is not None:
                file, read = self._at_hand
                self._sent[each.path] = file, read.config, read.key
                yield each.path, read.config, len(read.data)

    def _learn(self, answer: Answer) -> None:
        for path, (content, found) in answer.found.items():
            file, config, key = self._sent.pop(path)
            self._cache(config).put(file.home, content, key, found)
        for cache in self._caches.values():
            cache.learn(answer.asked, answer.digests)
            cache.settle()

    def _read_in_turn(self, each: FileInput) -> _Read:
        if self._processes is not None:
            self._processes.wait(each.path)
        before, self._at_hand = self._at_hand, None
        return before[1] if before is not None and before[0] == each else self._read(each)

    def _read(self, each: FileInput) -> _Read:
        data = each.data()
        content = digest(data)
        config, key = self._settings_of(each)
        return _Read(data, content, config, key, self._cache(config).get(each.home, content, key))

    def _settings_of(self, each: FileInput) -> tuple[Config, str]:
        """What holds for a file, without where that is written; and a digest of that."""
        config = self._config_of(each)
        if config not in self._settings:
            environment = f"{config!r}\n{plugged_in()}\n{Path.cwd()}"
            self._settings[config] = replace(config, origins={}), environment
        config, environment = self._settings[config]
        return config, digest(f"{environment}\n{each.path}".encode("utf-8", "surrogatepass"))

    def _cache(self, config: Config) -> Cache:
        place = self._place(config)
        if place not in self._caches:
            self._caches[place] = self._new_cache(place)
        return self._caches[place]

    @property
    def _looks_again(self) -> bool:
        """Whether files are checked more than once: a run that fixes some looks at others again."""
        return any(getattr(self._options, one, False) for one in ("watch", "fix", "diff"))

    def _new_cache(self, place: Path | None) -> Cache:
        if self._options.no_cache and not self._looks_again:
            from devicelint.cache.unkept import UnkeptResults

            return UnkeptResults()
        return Cache(place, self._summaries)

    def _place(self, config: Config) -> Path | None:
        if self._options.no_cache:
            return None
        if self._options.cache_dir:
            return Path(self._options.cache_dir)
        return config.cache_dir or (config.root or Path.cwd()) / DEFAULT_NAME

    def _examined(self, each: FileInput, source: SourceFile, read: _Read) -> CheckResult:
        cache = self._cache(read.config)
        try:
            checked = examine(source, read.config, lambda: self.project)
        except InputError as error:
            if error.lasts and cache.keeps:
                cache.put(each.home, read.content, read.key, error_data(error))
            raise
        if cache.keeps:
            cache.put(each.home, read.content, read.key, found_data(checked))
        return checked
