"""The format for editors and `grep`: one line a finding, `path:line:column: CODE message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devicelint.output import reporter
from devicelint.output.paint import SEVERITY_STYLES, Paint, plain
from devicelint.output.visible import printable

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult


class ConciseReporter(reporter.Reporter):
    """Each file's findings, when it is done."""

    def file(self, checked: CheckResult) -> str:
        """Return a line for every finding."""
        return render(checked, self.context.paint)


def render(checked: CheckResult, paint: Paint = plain) -> str:
    """Return one line for every finding of a file; lines and columns count from one."""
    lines = []
    for finding in checked.findings:
        location = checked.source.location(finding.span.start)
        place = f"{printable(checked.source.path)}:{location}:"
        code = paint(finding.code, f"bold {SEVERITY_STYLES[finding.severity]}")
        lines.append(f"{paint(place, 'bold')} {code} {printable(finding.message)}\n")
    return "".join(lines)
