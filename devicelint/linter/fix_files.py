"""Fixes several files at once: the fix of a finding may have to change another file.

The files are one text to the rounds of fixes, so that a fix is kept only where it harms none of
them.  What imports a file sees it as it is going to be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from devicelint.config import Config
from devicelint.finding import Finding, Span
from devicelint.fixes import Fixed, Joined, JoinedFiles, fix_until_stable
from devicelint.linter import lint
from devicelint.linter.lint import ReportFilter
from devicelint.linter.result import CheckResult
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project, home_of

ConfigFor = Callable[[str], Config]


def fix_files(
    sources: Sequence[SourceFile],
    config_for: ConfigFor,
    project: Project,
    *,
    has_entry: bool = False,
    reported: ReportFilter | None = None,
) -> tuple[Fixed, ...]:
    """Apply the fixes that the configurations allow, in all the files, until nothing changes.

    With an entry, the first file is the script that is run: what it passes to functions of the
    others shows what these need.  Nothing is written.  What `reported` leaves out is not fixed.
    """
    with project.editing(sources):
        insists = any(config_for(source.path).adopts for source in sources)
        joint = _JointCheck(config_for, project, has_entry, reported, adopts=insists)
        fixed = fix_until_stable(
            JoinedFiles.of(sources, has_entry=has_entry),
            joint.check,
            joint.accepts,
            insists=insists,
        )
        assert isinstance(fixed.before, JoinedFiles)
        joint.check(fixed.after)
        return tuple(joint.of_file(fixed, index) for index in range(len(sources)))


@dataclass
class _JointCheck:
    """Checks the files of a bundle in turn; a file is checked again only after a change."""

    config_for: ConfigFor
    project: Project
    has_entry: bool
    reported: ReportFilter | None = None
    adopts: bool = False
    """Whether any of the files is adopted: then all are changed that this takes."""
    passed_over: dict[str, set[Finding]] = field(default_factory=dict)
    """The findings of each file that are not to be fixed."""
    origins: dict[Finding, Joined] = field(default_factory=dict)
    """What each finding of the whole text is in its own file."""
    known: dict[str, tuple[dict[str, str], tuple[CheckResult, ...]]] = field(default_factory=dict)
    """What a file gave, and the texts of all files that this rests on."""

    def check(self, bundle: SourceFile) -> tuple[Finding, ...]:
        """The findings of all files."""
        assert isinstance(bundle, JoinedFiles)
        for file in bundle.files:
            self.project.hold(file)
        found = []
        for joined, origin in bundle.joined(
            [checked.findings for checked in self._checked(bundle)]
        ):
            self.origins[joined] = origin
            found.append(joined)
        return tuple(found)

    def accepts(self, finding: Finding) -> bool:
        """Whether the configuration of its file allows a fix."""
        origin = self.origins[finding]
        if origin.finding in self.passed_over.get(origin.path, ()):
            return False
        return lint.is_allowed(finding, replace(self.config_for(origin.path), adopts=self.adopts))

    def _checked(self, bundle: JoinedFiles) -> list[CheckResult]:
        """What is found in each file, by itself and as the first one calls it."""
        texts = {home_of(file): file.text for file in bundle.files}
        as_called = self._remembered(bundle.files, texts) if self.has_entry else ()
        alone = [self._remembered((file,), texts)[0] for file in bundle.files[bool(as_called) :]]
        if not as_called:
            return alone
        return [as_called[0], *(_merged(*pair) for pair in zip(as_called[1:], alone, strict=True))]

    def _remembered(
        self, files: Sequence[SourceFile], texts: dict[str, str]
    ) -> tuple[CheckResult, ...]:
        """The result for the first file, and for the others as far as it calls them."""
        first, *others = files
        before = self.known.get(first.path)
        if before is not None and all(texts[home] == text for home, text in before[0].items()):
            return before[1]
        config = self.config_for(first.path)
        if others:
            found = lint.check_as_called(first, others, config, self.project)
        else:
            found = (lint.check(first, config, self.project),)
        for checked in found if self.reported else ():
            self._pass_over(checked)
        rests_on = {home_of(first), *self.project.rests_on(first)} & texts.keys()
        self.known[first.path] = {home: texts[home] for home in rests_on}, found
        return found

    def _pass_over(self, checked: CheckResult) -> None:
        assert self.reported is not None
        passed_over = self.passed_over.setdefault(checked.source.path, set())
        passed_over.difference_update(checked.findings)
        passed_over.update({*checked.findings}.difference(self.reported(checked).findings))

    def of_file(self, fixed: Fixed, index: int) -> Fixed:
        """What became of one of the files."""
        assert isinstance(fixed.before, JoinedFiles)
        assert isinstance(fixed.after, JoinedFiles)
        before, after = fixed.before.files[index], fixed.after.files[index]
        start = fixed.before.start_of(home_of(before)) or 0
        places = tuple(
            Span(place.start - start, place.end - start)
            for finding, place in zip(fixed.applied, fixed.places, strict=True)
            if self.origins[finding].path == before.path
        )
        return Fixed(
            before,
            after,
            self._in_file(fixed.applied, before.path),
            self._in_file(fixed.rolled_back, before.path),
            self._in_file(fixed.remaining, before.path),
            places,
            {self.origins[finding].finding: why for finding, why in fixed.reasons.items()},
            self._checked(fixed.after)[index].suppressed,
        )

    def _in_file(self, findings: Sequence[Finding], path: str) -> tuple[Finding, ...]:
        """Those of the findings that belong to a file, as it has them itself."""
        origins = (self.origins[finding] for finding in findings)
        return tuple(origin.finding for origin in origins if origin.path == path)


def _merged(as_called: CheckResult, alone: CheckResult) -> CheckResult:
    """What is found in a file when another calls it, and what else when it is checked alone."""
    found = {(finding.code, finding.span) for finding in as_called.findings}
    new = (each for each in alone.findings if (each.code, each.span) not in found)
    findings = sorted((*as_called.findings, *new), key=lambda each: (each.span, each.code))
    suppressed = dict.fromkeys((*as_called.suppressed, *alone.suppressed))
    return replace(alone, findings=tuple(findings), suppressed=tuple(suppressed))
