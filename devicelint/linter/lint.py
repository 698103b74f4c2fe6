"""Check a file, fix a file: what all front ends call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

from devicelint.config import Config
from devicelint.finding import Finding
from devicelint.fixes import Approval, Fixed, fix_until_stable
from devicelint.linter.filtering import filtered
from devicelint.linter.led_to import imported_by, led_to, with_those_led_to
from devicelint.linter.result import CheckResult, screen
from devicelint.linter.walks import Seen, findings, own_findings
from devicelint.text.parse import CheckError
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project

__all__ = [
    "CheckError",
    "CheckResult",
    "Fixed",
    "adopt",
    "check",
    "check_as_called",
    "check_imports",
    "fix",
    "screen",
]


ReportFilter = Callable[[CheckResult], CheckResult]
"""Which of the findings of a file are to be fixed; the others may stay."""


def check(
    source: SourceFile, config: Config | None = None, project: Project | None = None
) -> CheckResult:
    """Find the device mistakes of one file; with a project, imports of its files are followed.

    Raises `CheckError` where the file is no Python that libcst can read.
    """
    config = config or Config()
    if project is not None:
        project.begin_check(source)
    found, seen = own_findings(source, config, project)
    if project is not None:
        found = with_those_led_to(found, led_to(source, config, project))
    checked = filtered(source, found, config, follows_imports=project is not None)
    return replace(checked, assumed=tuple(seen.assumed))


def check_as_called(
    source: SourceFile, called: Sequence[SourceFile], config: Config, project: Project
) -> tuple[CheckResult, ...]:
    """The device mistakes of one file, and those of others as far as it calls what they hold.

    What the functions of the others are given shows what goes wrong in them, which their own check
    does not.
    """
    found = findings(source, config, project, called, Seen())
    sources = (source, *called)
    return tuple(
        filtered(*pair, config, follows_imports=True) for pair in zip(sources, found, strict=True)
    )


def check_imports(source: SourceFile, config: Config, project: Project) -> tuple[CheckResult, ...]:
    """The mistakes in files that a script imports, where it calls what they hold."""
    others = tuple(imported_by(source, project))
    if not others:
        return ()
    _, *called = check_as_called(source, others, config, project)
    return tuple(one for one in called if one.findings)


def fix(
    source: SourceFile,
    config: Config | None = None,
    project: Project | None = None,
    approves: Approval | None = None,
    reported: ReportFilter | None = None,
    *,
    known: CheckResult | None = None,
) -> Fixed:
    """Apply the fixes that the configuration allows until nothing changes.

    `approves` is asked about each, and may say no.  What `reported` leaves out is not fixed, and
    what is `known` of the source is not found out again.
    """
    config, hidden = config or Config(), Hidden(reported)
    checks = {} if known is None else {known.source.text: known}
    is_led_to = project is not None and bool(led_to(source, config, project))

    def found(text: SourceFile) -> tuple[Finding, ...]:
        if text.text not in checks:
            if project is not None and is_led_to:
                project.hold(text)
            checks[text.text] = check(text, config, project)
        checked = checks[text.text]
        hidden.update(checked)
        return checked.findings

    def accepts(finding: Finding) -> bool:
        return finding not in hidden.findings and is_allowed(finding, config)

    with nullcontext() if project is None else project.holding():
        fixed = fix_until_stable(source, found, accepts, insists=config.adopts, approves=approves)
    return replace(fixed, suppressed=checks[fixed.after.text].suppressed)


class Hidden:
    """The findings that are not reported, and therefore not fixed, as of the last check."""

    def __init__(self, reported: ReportFilter | None) -> None:
        self.findings: set[Finding] = set()
        self._reported = reported

    def update(self, checked: CheckResult) -> None:
        """Take the result of another check."""
        if self._reported is not None:
            self.findings -= {*checked.findings}
            self.findings |= {*checked.findings} - {*self._reported(checked).findings}


def adopt(
    source: SourceFile,
    config: Config | None = None,
    project: Project | None = None,
    approves: Approval | None = None,
) -> Fixed:
    """Bring a file to the device pattern: one device, and all that trains on it.

    What is in `remaining` is left to the reader: it needs what the source does not say.
    """
    return fix(source, (config or Config()).for_adoption(), project, approves)


def is_allowed(finding: Finding, config: Config) -> bool:
    """Whether a configuration allows the fix of a finding, where it has one.

    Whoever adopts a file wants it to do what it does elsewhere, too: unsafe fixes are steps of
    that, except where the file seems to be for machines with an accelerator on purpose.
    """
    if finding.fix is None:
        return False
    if config.unsafe_fixes or finding.fix.safety.value == "safe":
        return True
    return config.adopts and not finding.fix.is_meant
