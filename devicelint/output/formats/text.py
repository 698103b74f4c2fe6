"""The format for people: a header, a code frame, when it happens, how sure that is, the fix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devicelint.finding import Finding
from devicelint.output import reporter
from devicelint.output.evidence import condition
from devicelint.output.frame import Label, frame
from devicelint.output.paint import SEVERITY_STYLES, Paint, plain
from devicelint.output.reporter import DEFAULT_WIDTH
from devicelint.output.visible import printable
from devicelint.text.source import SourceFile

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult

__all__ = ["DEFAULT_WIDTH", "TextReporter", "render"]


class TextReporter(reporter.Reporter):
    """Each file's findings, when it is done."""

    def file(self, checked: CheckResult) -> str:
        """Return every finding with its code frame."""
        return render(checked, self.context.paint, self.context.width)


def render(checked: CheckResult, paint: Paint = plain, width: int = DEFAULT_WIDTH) -> str:
    """Return every finding of a file with its code frame, a blank line after each."""
    shown = (render_finding(checked.source, each, paint, width) for each in checked.findings)
    return "".join(f"{each}\n" for each in shown)


def render_finding(
    source: SourceFile, finding: Finding, paint: Paint = plain, width: int = DEFAULT_WIDTH
) -> str:
    """Return a finding with its code frame."""
    return "".join(f"{line}\n" for line in _finding(source, finding, paint, width))


def _finding(source: SourceFile, finding: Finding, paint: Paint, width: int) -> Iterator[str]:
    yield _header(source, finding, paint)
    yield from frame(source, _labels(finding), paint, width)
    for place in finding.elsewhere:
        where = f"{printable(place.where)}:"
        yield f"  {paint(where, 'bold')} {printable(place.message)}"
    if when := condition(finding):
        yield "  " + paint(printable(when), "dim")
    if finding.fix is not None:
        safety = finding.fix.safety.value
        yield f"  {paint('fix:', 'bold green')} {printable(finding.fix.message)} ({safety})"
    elif finding.unfixed:
        yield f"  {paint('no fix:', 'bold')} {printable(finding.unfixed)}"


def _header(source: SourceFile, finding: Finding, paint: Paint) -> str:
    place = f"{printable(source.path)}:{source.location(finding.span.start)}:"
    style = f"bold {SEVERITY_STYLES[finding.severity]}"
    kind = paint(f"{finding.severity.value} {finding.code}", style)
    name = paint(f"{finding.name}:", "bold")
    return f"{paint(place, 'bold')} {kind} {name} {printable(finding.message)}"


def _labels(finding: Finding) -> list[Label]:
    """Return the primary place and the others; what is said of the primary place stands there."""
    said = dict.fromkeys((related.span, related.message) for related in finding.related)
    primary = "; ".join(message for span, message in said if span == finding.span)
    style = f"bold {SEVERITY_STYLES[finding.severity]}"
    return [
        Label(finding.span, primary, "^", style),
        *(Label(span, message, "-", "blue") for span, message in said if span != finding.span),
    ]
