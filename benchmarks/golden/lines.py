"""What is kept of one subject, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from benchmarks.golden.subjects import Subject
from devicelint.finding import Finding, InputError
from devicelint.fixes import Fixed
from devicelint.linter import lint
from devicelint.text.source import SourceFile


def lines_of(subject: Subject, *, in_full: bool) -> tuple[str, ...]:
    """What is said of a subject; messages as digests where they are not kept `in_full`."""
    with subject.place():
        return tuple(_lines(subject, in_full=in_full))


def _lines(subject: Subject, *, in_full: bool) -> Iterator[str]:
    try:
        source = subject.read()
        checked = lint.check(source, subject.config, subject.project())
        found = sorted(_line(finding, source, in_full=in_full) for finding in checked.findings)
        yield from found
        if subject.is_adopted:
            adopted = lint.adopt(source, subject.config, subject.project())
            yield from _adoption(adopted, source)
    except InputError as error:
        yield f"refused: {error.message}"


def _line(finding: Finding, source: SourceFile, *, in_full: bool) -> str:
    place = source.location(finding.span.start)
    fix = "-" if finding.fix is None else finding.fix.safety.value
    told = _anywhere("\n".join(_told(finding, source)))
    head = f"{place} {finding.code} {finding.severity.value} {finding.certainty.value} {fix}"
    words = _anywhere(finding.message) if in_full else ""
    return f"{head} {digest(told)} {words}".rstrip()


def _told(finding: Finding, source: SourceFile) -> Iterator[str]:
    """All that a reader sees of a finding, and what its fix writes."""
    yield from (finding.name, finding.message, finding.machine, finding.unfixed)
    for other in finding.related:
        yield f"{source.location(other.span.start)} {other.message}"
    yield from sorted(f"{other.location} {other.message}" for other in finding.elsewhere)
    if finding.fix is not None:
        yield finding.fix.message
        for edit in finding.fix.edits:
            yield f"{edit.span.start}-{edit.span.end} {edit.content}"


def _adoption(adopted: Fixed, source: SourceFile) -> Iterator[str]:
    if adopted.after.text == source.text and not adopted.remaining:
        return
    left = " ".join(sorted(finding.code for finding in adopted.remaining))
    yield f"adopted {digest(adopted.after.text)} left: {left or 'nothing'}"


def _anywhere(text: str) -> str:
    """Without the folder of this run, where a message names one."""
    return text.replace(f"{Path.cwd()}/", "")


def digest(text: str) -> str:
    """Eight digits that another text hardly has."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
