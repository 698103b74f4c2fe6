"""What devicelint says of a mutant, and what its fixes make of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.checking import Outcome, check_source, fixed
from benchmarks.mutants.benches import Place
from benchmarks.mutants.mutant import Mutant, read
from benchmarks.removed_moves import Statement, statement_at
from devicelint.finding import Finding
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project

MOST_FILES = 4
"""Beside the mutant's own, so many files of the traceback are checked, the innermost first."""

Known = frozenset[tuple[str, int]]
"""The code and line of each finding of a file as it is."""


@dataclass(frozen=True)
class Verdict:
    """What devicelint makes of a mutant.

    Attributes:
        found: whether a new finding names the statement, a use of what it concerns, or a line that
            the error came through.
        elsewhere: whether there is a new finding, and none that does.
        told: file, line, code and message of each new finding.
    """

    found: bool
    elsewhere: bool
    told: tuple[tuple[str, int, str, str], ...]


class Linter:
    """devicelint, with the project that a copy of a checkout is.

    Args:
        tree: the copy, as it is.
        sources: the files that may be checked.
    """

    def __init__(self, tree: Path, sources: Iterable[str]) -> None:
        self._tree = tree
        self._sources = frozenset(sources)
        self._project = Project()
        self._known: dict[str, Known] = {}

    def judge(self, mutant: Mutant, places: Sequence[Place]) -> Verdict:
        """Check a mutant, and the files that its error came through."""
        known = {file: self._findings_as_they_are(file) for file in self._files(mutant, places)}
        told: list[tuple[str, int, str, str]] = []
        found = False
        with _Held(self._project, self._source(mutant.file, mutant.text)):
            for file, before in known.items():
                outcome = self._checked(file, mutant)
                for finding in outcome.findings if outcome.source else ():
                    line = outcome.line_of(finding)
                    if (finding.code, line) not in before:
                        told.append((file, line, finding.code, finding.message))
                        judged = _Judged(mutant, self._tree, file, outcome, finding)
                        found = found or judged.is_about(places)
        return Verdict(found, bool(told) and not found, tuple(told))

    def repaired(
        self, mutant: Mutant, places: Sequence[Place], *, unsafe: bool
    ) -> Mapping[str, str]:
        """The texts of files that fixes change, the mutant's own among them; none, if nothing."""
        texts: dict[str, str] = {}
        source = self._source(mutant.file, mutant.text)
        with _Held(self._project, source) as held:
            for file in self._files(mutant, places):
                before = source if file == mutant.file else self._on_disk(file)
                after = before and fixed(before, self._project, unsafe=unsafe)
                if before and after and after.text != before.text:
                    texts[file] = after.text
                    held.also(after)
        return {mutant.file: mutant.text, **texts} if texts else {}

    def _files(self, mutant: Mutant, places: Sequence[Place]) -> list[str]:
        """The mutant's own file, and sources that its error came through."""
        named = dict.fromkeys(file for file, _ in reversed(places) if file in self._sources)
        named.pop(mutant.file, None)
        return [mutant.file, *list(named)[:MOST_FILES]]

    def _findings_as_they_are(self, file: str) -> Known:
        if file not in self._known:
            source = self._on_disk(file)
            outcome = check_source(source, self._project) if source else None
            found = outcome.findings if outcome and outcome.source else ()
            self._known[file] = frozenset(
                (each.code, outcome.line_of(each)) for each in found if outcome
            )
        return self._known[file]

    def _checked(self, file: str, mutant: Mutant) -> Outcome:
        own = self._source(mutant.file, mutant.text)
        source = own if file == mutant.file else self._on_disk(file)
        return check_source(source or own, self._project)

    def _on_disk(self, file: str) -> SourceFile | None:
        text = read(self._tree / file)
        return None if text is None else self._source(file, text)

    def _source(self, file: str, text: str) -> SourceFile:
        return SourceFile.from_bytes(text.encode(), os.path.realpath(self._tree / file))


class _Held:
    """Texts that a project takes for those of its files, inside a `with` block."""

    def __init__(self, project: Project, *sources: SourceFile) -> None:
        self._project = project
        self._sources = list(sources)

    def __enter__(self) -> _Held:
        for each in self._sources:
            self._project.hold(each)
        return self

    def also(self, source: SourceFile) -> None:
        """Take one more."""
        self._sources.append(source)
        self._project.hold(source)

    def __exit__(self, *_: object) -> None:
        for each in self._sources:
            self._project.release(each.path)


@dataclass(frozen=True)
class _Judged:
    """A new finding in one of the files that were checked for a mutant."""

    mutant: Mutant
    tree: Path
    file: str
    outcome: Outcome
    finding: Finding

    def is_about(self, places: Sequence[Place]) -> bool:
        """Whether it names the statement, a use of what that concerns, or a line of the error."""
        named = set(self._named())
        if named & set(places):
            return True
        statement = self._statement()
        if any(file == self.mutant.file and line in statement.lines for file, line in named):
            return True
        return self.file == self.mutant.file and self._uses(statement)

    def _statement(self) -> Statement:
        """The statement in which something is forgotten, as it is then."""
        return statement_at(self.mutant.text, self.mutant.omission.line)

    def _uses(self, statement: Statement) -> bool:
        assert self.outcome.source is not None
        lines = map(self.outcome.source.line_text, self.outcome.lines_of(self.finding))
        return any(statement.names.intersection(re.findall(r"\w+", line)) for line in lines)

    def _named(self) -> Iterator[Place]:
        """The lines that a finding names."""
        source, finding = self.outcome.source, self.finding
        assert source is not None
        yield from ((self.file, line) for line in self.outcome.lines_of(finding))
        spans = [related.span for related in finding.related]
        spans += [edit.span for edit in (finding.fix.edits if finding.fix else ())]
        yield from ((self.file, source.location(span.start).line) for span in spans)
        for other in finding.elsewhere:
            path = Path(os.path.realpath(other.path))
            if path.is_relative_to(self.tree):
                yield path.relative_to(self.tree).as_posix(), other.line
