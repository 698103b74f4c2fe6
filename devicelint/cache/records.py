"""What is remembered of files: what they asked for, what was found in them, and what that rests on.

A file's findings rest on its own content, on what its imports were resolved to (also where
there was no such module), and so on for each file that was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from devicelint.text.hashing import digest
from devicelint.workspace.questions import Question, read_for, what_counts

_MOST_RESULTS = 4
"""How many ways to check one file are remembered: settings, folders to start from."""


class CachedResult(NamedTuple):
    """What one check of a file came to, as JSON writes it."""

    rests_on: str
    """A digest of the files that it rests on, and of their content."""
    found: Any


@dataclass
class Record:
    """One file, as it was when it was read last."""

    digest: str
    asked: set[Question] = field(default_factory=set)
    results: dict[str, CachedResult] = field(default_factory=dict)

    def learn(self, digest: str, asked: Iterable[Question]) -> bool:
        """Know a file as it is now, and what was resolved in it; whether any of that is new."""
        if digest != self.digest:
            self.digest = digest
            self.asked = set(asked)
            self.results = {}
            return True
        known = len(self.asked)
        self.asked |= set(asked)
        return len(self.asked) > known

    def keep(self, key: str, result: CachedResult) -> None:
        """Remember a result, and forget the oldest."""
        self.results.pop(key, None)
        self.results[key] = result
        while len(self.results) > _MOST_RESULTS:
            del self.results[next(iter(self.results))]

    def joined(self, other: Record) -> Record:
        """What two runs know of a file, this one the later."""
        if self.digest != other.digest:
            return self
        joined = Record(self.digest, self.asked | other.asked)
        for key, result in {**other.results, **self.results}.items():
            joined.keep(key, result)
        return joined

    def to_data(self) -> list[Any]:
        """The record as JSON writes it."""
        results = {key: list(result) for key, result in self.results.items()}
        return [self.digest, sorted(map(list, self.asked)), results]

    @classmethod
    def from_data(cls, data: Any) -> Record:
        """The record that was written; raises ValueError or TypeError for anything else."""
        version, asked, results = data
        return cls(
            str(version),
            {Question(str(module), int(level)) for module, level in asked},
            {str(key): CachedResult(*result) for key, result in results.items()},
        )


@dataclass
class CacheGround:
    """What findings rest on, as one digest for each file.

    Imports go round in circles: files that import each other rest on the same.
    """

    record: Callable[[str], Record | None]
    content: Callable[[str], str]
    """What is in a file now."""
    answer: Callable[[str, Question], str | None]
    is_inside: Callable[[str, Sequence[tuple[Question, str | None]]], bool]
    """Whether nothing but the content of its project can change what was asked in a file."""
    _inside: dict[str, bool] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)
    _answers: dict[str, list[tuple[Question, str | None]]] = field(default_factory=dict)

    def of(self, home: str) -> str:
        """What the findings of a file rest on; empty where that is not what was read."""
        if home not in self._known:
            _Circles(self._imported, self._settle).visit(home)
        return self._known[home]

    def forget(self) -> None:
        """Look at everything again."""
        self._known.clear()
        self._inside.clear()

    def inside(self) -> dict[str, str]:
        """What is known of files that rest on nothing but their projects."""
        return {home: ground for home, ground in self._known.items() if self._inside[home]}

    def _imported(self, home: str) -> list[str]:
        record = self.record(home)
        asked = () if record is None else sorted(record.asked)
        answers = [(question, self.answer(home, question)) for question in asked]
        self._answers[home] = answers
        found = (one for answer in answers for one in read_for(*answer))
        return [one for one in found if one not in self._known]

    def _settle(self, circle: list[str]) -> None:
        own = [self._own(home) for home in sorted(circle)]
        asked = [(home, self._answers.pop(home)) for home in circle]
        found = {one for _, answers in asked for each in answers for one in read_for(*each)}
        others = sorted(found.difference(circle))
        parts = (*own, *(self._known[one] for one in others))
        inside = all(self._inside[one] for one in others) and all(
            self.is_inside(*each) for each in asked
        )
        self._inside |= dict.fromkeys(circle, inside)
        version = digest("\n".join(parts).encode("utf-8", "surrogatepass")) if all(parts) else ""
        self._known |= dict.fromkeys(circle, version)

    def _own(self, home: str) -> str:
        """What one file adds; nothing where it is not what was read."""
        record = self.record(home)
        if record is None:
            return home  # Found, and never read.
        if self.content(home) != record.digest:
            return ""
        answers = (f"{q.level} {q.module} {what_counts(q, a)}" for q, a in self._answers[home])
        return "\n".join((home, record.digest, *answers))


@dataclass
class _Circles:
    """Tarjan's strongly connected components, without recursion: import chains are long."""

    imported: Callable[[str], list[str]]
    settle: Callable[[list[str]], None]
    """Takes each circle once, after all that it leads to."""
    _order: dict[str, int] = field(default_factory=dict)
    _lowest: dict[str, int] = field(default_factory=dict)
    _open: dict[str, None] = field(default_factory=dict)

    def visit(self, start: str) -> None:
        """Settle what `start` leads to, and itself."""
        path = [(start, iter(self._entered(start)))]
        while path:
            home, pending = path[-1]
            for other in pending:
                if other not in self._order:
                    path.append((other, iter(self._entered(other))))
                    break
                if other in self._open:
                    self._lowest[home] = min(self._lowest[home], self._order[other])
            else:
                path.pop()
                self._left(home, path[-1][0] if path else None)

    def _entered(self, home: str) -> list[str]:
        self._order[home] = self._lowest[home] = len(self._order)
        self._open[home] = None
        return self.imported(home)

    def _left(self, home: str, importer: str | None) -> None:
        if importer is not None:
            self._lowest[importer] = min(self._lowest[importer], self._lowest[home])
        if self._lowest[home] == self._order[home]:
            circle = [self._open.popitem()[0]]
            while circle[-1] != home:
                circle.append(self._open.popitem()[0])
            self.settle(circle)
