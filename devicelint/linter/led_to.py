"""What programs make go wrong in the files that they import.

A mistake of two files is found where a program calls one of them with what the other gives: it is
reported in the file that has to change, which does not show it by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from devicelint.config import Config
from devicelint.finding import FAILS_HERE, Finding, InputError, Severity, Span
from devicelint.linter.result import concerns_devices
from devicelint.linter.walks import Seen, findings, own_findings
from devicelint.text.source import SourceFile
from devicelint.workspace import users
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project, home_of

Found = Mapping[str, Sequence[Finding]]
"""What a program makes go wrong, by the homes of the files."""


def led_to(source: SourceFile, config: Config, project: Project) -> list[Finding]:
    """The mistakes in a file that show where programs and tests around call what it holds."""
    if source.skipped or not concerns_devices(source):
        return []
    home = home_of(source)
    programs = users.leading_to(project, home)
    return [one for program in programs for one in _made_by(program, config, project).get(home, ())]


def with_those_led_to(own: Sequence[Finding], led: Iterable[Finding]) -> list[Finding]:
    """The findings of a file: those that programs lead to say more than its own of a place."""
    found = {(one.code, one.span): one for one in reversed(tuple(led))}
    places = (place for one in found.values() for place in one.related)
    failing = [place.span for place in places if place.message == FAILS_HERE]
    kept = [one for one in own if (one.code, one.span) not in found and not _is_in(one, failing)]
    return sorted((*kept, *found.values()), key=lambda one: (one.span, one.code)) if found else kept


def _is_in(finding: Finding, places: Iterable[Span]) -> bool:
    """Whether a finding says that something fails where another one says so as well."""
    own = finding.span
    return any(one.start <= own.start and own.end <= one.end for one in places)


def imported_by(source: SourceFile, project: Project) -> Iterator[SourceFile]:
    """The files that a script imports, as far as the project has seen a check of it."""
    for home in project.imported_from(source):
        if home == home_of(source):
            continue
        try:
            yield project.held(home) or read_source(Path(home))
        except InputError:
            continue


def _made_by(program: str, config: Config, project: Project) -> Found:
    """The same of a program, walked once for all that it imports, and only if anything clashes."""
    key, known = (program, config), project.known.made_by
    if key not in known:
        try:
            known[key] = _found_by(program, config, project)
        except InputError:
            known[key] = {}
    return known[key]


def _found_by(program: str, config: Config, project: Project) -> Found:
    source = project.held(program) or read_source(Path(program))
    if not _clashes(source, config, project):
        return {}
    others = tuple(imported_by(source, project))
    _, *found = findings(source, config, project, others, Seen())
    made = {home_of(one): _mistakes(each) for one, each in zip(others, found, strict=True)}
    return {home: each for home, each in made.items() if each}


def _mistakes(found: Iterable[Finding]) -> list[Finding]:
    """The findings of a file but for notes: those on a program stand where that begins."""
    return [one for one in found if one.severity is not Severity.NOTE]


def _clashes(source: SourceFile, config: Config, project: Project) -> bool:
    """Whether something clashes in the files that a program imports, as its own check shows."""
    if concerns_devices(source):
        return own_findings(source, config, project)[1].clashes
    return project.shown_by(home_of(source)).clashes
