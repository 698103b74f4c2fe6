"""Fix several files together: what fixes one of them may have to be written in another.

The files are one text to the rounds of fixes, so that a fix is kept only where it harms none of
them.  What imports a file sees it as it is going to be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from devicelint.config import Config
from devicelint.finding import Finding, Span
from devicelint.fixes import Bundle, Fixed, Joined, fix_until_stable
from devicelint.linter import lint
from devicelint.linter.lint import Heard
from devicelint.linter.result import Checked
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project, home_of

ConfigFor = Callable[[str], Config]


def fix_all(
    sources: Sequence[SourceFile],
    config_for: ConfigFor,
    project: Project,
    *,
    is_led: bool = False,
    heard: Heard | None = None,
) -> tuple[Fixed, ...]:
    """Apply the fixes that the configurations allow, in all the files, until nothing changes.

    Where the files are led, the first of them is the script that is run: what it gives to the
    functions of the others shows what these need.  Nothing is written; `project` goes by the new
    texts until it is told to release them.  What is not `heard` is not fixed.
    """
    with project.editing(sources):
        together = _Together(config_for, project, is_led, heard)
        insists = any(config_for(source.path).adopts for source in sources)
        fixed = fix_until_stable(
            Bundle.of(sources, is_led=is_led), together.check, together.accepts, insists=insists
        )
        assert isinstance(fixed.before, Bundle)
        together.check(fixed.after)
        return tuple(together.of_file(fixed, index) for index in range(len(sources)))


@dataclass
class _Together:
    """The files of a bundle, checked in turn; one that nothing has changed is not checked again."""

    config_for: ConfigFor
    project: Project
    is_led: bool
    heard: Heard | None = None
    passed_over: dict[str, set[Finding]] = field(default_factory=dict)
    """What of each file is not to be fixed."""
    origins: dict[Finding, Joined] = field(default_factory=dict)
    """What each finding of the whole text is in its own file."""
    known: dict[str, tuple[dict[str, str], tuple[Checked, ...]]] = field(default_factory=dict)
    """What a file gave, and the texts of all files that this rests on."""

    def check(self, bundle: SourceFile) -> tuple[Finding, ...]:
        """The findings of all files."""
        assert isinstance(bundle, Bundle)
        for file in bundle.files:
            self.project.hold(file)
        found = []
        for joined, origin in bundle.joined([one.findings for one in self._checked(bundle)]):
            self.origins[joined] = origin
            found.append(joined)
        return tuple(found)

    def accepts(self, finding: Finding) -> bool:
        """Whether the configuration of its file allows a fix."""
        origin = self.origins[finding]
        if origin.finding in self.passed_over.get(origin.path, ()):
            return False
        return lint.is_allowed(finding, self.config_for(origin.path))

    def _checked(self, bundle: Bundle) -> list[Checked]:
        """What is found in each file, by itself and as the first one calls it."""
        texts = {home_of(file): file.text for file in bundle.files}
        led = self._remembered(bundle.files, texts) if self.is_led else ()
        alone = [self._remembered((file,), texts)[0] for file in bundle.files[bool(led) :]]
        if not led:
            return alone
        return [led[0], *(_merged(*pair) for pair in zip(led[1:], alone, strict=True))]

    def _remembered(
        self, files: Sequence[SourceFile], texts: dict[str, str]
    ) -> tuple[Checked, ...]:
        """What checking the first file gives, for it and for those that it leads."""
        first, *others = files
        before = self.known.get(first.path)
        if before is not None and all(texts[home] == text for home, text in before[0].items()):
            return before[1]
        config = self.config_for(first.path)
        if others:
            found = lint.check_as_called(first, others, config, self.project)
        else:
            found = (lint.check(first, config, self.project),)
        for checked in found if self.heard else ():
            self._pass_over(checked)
        rests_on = {home_of(first), *self.project.reached_from(first)} & texts.keys()
        self.known[first.path] = {home: texts[home] for home in rests_on}, found
        return found

    def _pass_over(self, checked: Checked) -> None:
        assert self.heard is not None
        passed_over = self.passed_over.setdefault(checked.source.path, set())
        passed_over.difference_update(checked.findings)
        passed_over.update({*checked.findings}.difference(self.heard(checked).findings))

    def of_file(self, fixed: Fixed, index: int) -> Fixed:
        """What became of one of the files."""
        assert isinstance(fixed.before, Bundle)
        assert isinstance(fixed.after, Bundle)
        before, after = fixed.before.files[index], fixed.after.files[index]

        def mine(findings: Sequence[Finding]) -> tuple[Finding, ...]:
            origins = (self.origins[one] for one in findings)
            return tuple(one.finding for one in origins if one.path == before.path)

        places = [
            (self.origins[one].finding, place)
            for one, place in zip(fixed.applied, fixed.places, strict=True)
            if self.origins[one].path == before.path
        ]
        start = fixed.before.start_of(home_of(before)) or 0
        return Fixed(
            before,
            after,
            tuple(finding for finding, _ in places),
            mine(fixed.rolled_back),
            mine(fixed.remaining),
            tuple(Span(place.start - start, place.end - start) for _, place in places),
            {self.origins[one].finding: why for one, why in fixed.reasons.items()},
            self._checked(fixed.after)[index].suppressed,
        )


def _merged(led: Checked, alone: Checked) -> Checked:
    """What is found in a file when another calls it, and what else when it is checked alone."""
    met = {(one.code, one.span) for one in led.findings}
    new = (one for one in alone.findings if (one.code, one.span) not in met)
    findings = sorted((*led.findings, *new), key=lambda one: (one.span, one.code))
    suppressed = dict.fromkeys((*led.suppressed, *alone.suppressed))
    return replace(alone, findings=tuple(findings), suppressed=tuple(suppressed))
