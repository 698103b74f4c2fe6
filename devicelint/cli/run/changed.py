"""What of a file is reported where only changes are asked for."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import STDIN
from devicelint.finding import Finding, InputError
from devicelint.linter.baseline import count, filter_known
from devicelint.output import known as sentences
from devicelint.text.source import SourceFile
from devicelint.workspace.git import GitError, Revision, changed_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from devicelint.config import Config
    from devicelint.linter.result import CheckResult
    from devicelint.workspace.project import Project


class ChangedLines:
    """Keeps what is found on changed lines, and what a change brings about on others."""

    def __init__(self, name: str, paths: Sequence[str]) -> None:
        """Look the revision up wherever the paths lead; raises UsageError."""
        self.name = name
        self.hidden = 0
        self._repositories: dict[Path, _Repository] = {}
        self._by_folder: dict[Path, _Repository] = {}
        for path in paths or ["."]:
            if path == STDIN or Path(path).exists():  # Others are reported in their turn.
                self._repository(path)

    def filtered(self, checked: CheckResult, config: Config) -> CheckResult:
        """What of a file is to be reported."""
        summary = self.reported(checked, config)
        self.hidden += len(checked.findings) - len(summary.findings)
        return summary

    def summary(self) -> str:
        """How much was hidden."""
        return sentences.unchanged(self.hidden, self.name)

    def reported(self, checked: CheckResult, config: Config) -> CheckResult:
        """The same, of a text that is on its way to the report."""
        if not checked.findings:
            return checked
        new = self._repository(checked.source.path).new(checked, config)
        return replace(checked, findings=tuple(each for each in checked.findings if each in new))

    def _repository(self, path: str) -> _Repository:
        real = Path(os.path.realpath(path))
        folder = real if real.is_dir() else real.parent
        if folder not in self._by_folder:
            try:
                revision = Revision.of(folder, self.name)
            except GitError as error:
                raise UsageError(f"--diff-base: {error}") from None
            known = self._repositories.setdefault(revision.top, _Repository(revision))
            self._by_folder[folder] = known
        return self._by_folder[folder]


class _Repository:
    """The files of one repository, now and at a revision."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision

    def new(self, checked: CheckResult, config: Config) -> frozenset[Finding]:
        """What is found in a file that is on a changed line, or was not found before."""
        source, findings = checked.source, frozenset(checked.findings)
        before = self._before(source)
        if before is None:
            return findings
        lines = changed_lines(before.text, source.text) if before is not source else frozenset()
        new = frozenset(each for each in findings if not lines.isdisjoint(_lines(each, source)))
        old = [each for each in checked.findings if each not in new]
        if not old or (before is source and not self._mentions_changed(source)):
            return new
        return new | self._brought_about(old, source, before, config)

    def _before(self, source: SourceFile) -> SourceFile | None:
        """A file as it was: itself where nothing changed, None where it is new."""
        name = self.revision.name_of(source.path)
        if name is None:
            return None
        if name not in self.revision.changed:
            on_disk = _read(source.path)
            if on_disk is not None and on_disk.text == source.text:
                return source
            then: str | None = name
        else:
            then = self.revision.changed[name]
        data = None if then is None else self.revision.content(then)
        return None if data is None else _decoded(data, source.path)

    def _brought_about(
        self, old: list[Finding], source: SourceFile, before: SourceFile, config: Config
    ) -> frozenset[Finding]:
        """What is found on lines that are as they were, and was not found there before."""
        from devicelint.linter import lint

        try:
            was = lint.check(before, config, self._project)
        except InputError:
            return frozenset()
        return frozenset(filter_known(old, source, count(was.findings, was.source)).new)

    @cached_property
    def _project(self) -> Project:
        """The project as it was, as far as its files are still there."""
        from devicelint.workspace.project import Project

        project = Project()
        contents = self.revision.contents(self._modules.values())
        for name, data in zip(self._modules, contents, strict=True):
            path = str(self.revision.top / name)
            if data is not None and (before := _decoded(data, path)) is not None:
                project.hold(before)
        return project

    @cached_property
    def _modules(self) -> dict[str, str]:
        """The changed files that others may import, with their names then."""
        changed = self.revision.changed.items()
        return {name: then for name, then in changed if then is not None and name.endswith(".py")}

    def _mentions_changed(self, source: SourceFile) -> bool:
        """Whether a file that has not changed may import one that has."""
        places = (Path(name) for name in self._modules)
        names = {path.parent.name if path.stem == "__init__" else path.stem for path in places}
        return any(name in source.text for name in names)


def _lines(finding: Finding, source: SourceFile) -> range:
    first = source.position(finding.span.start).line
    last = source.position(max(finding.span.start, finding.span.end - 1)).line
    return range(first, last + 1)


def _read(path: str) -> SourceFile | None:
    try:
        return _decoded(Path(path).read_bytes(), path)
    except OSError:
        return None


def _decoded(data: bytes, path: str) -> SourceFile | None:
    try:
        return SourceFile.from_bytes(data, path)
    except InputError:
        return None
