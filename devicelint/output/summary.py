"""The sentences that close a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from devicelint.finding import Finding, Safety, Severity

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult


def found(files: Iterable[CheckResult], unsafe_fixes: bool = False) -> str:
    """Say how much was found, and what of it can be fixed how; empty if nothing was."""
    findings = [finding for checked in files for finding in checked.findings]
    kinds = [
        number(sum(finding.severity is severity for finding in findings), severity.value)
        for severity in Severity
    ]
    if not any(kinds):
        return ""
    return "; ".join(filter(None, ("Found " + _listed(kinds), _fixable(findings, unsafe_fixes))))


def _fixable(findings: Sequence[Finding], unsafe_fixes: bool) -> str:
    safe, unsafe = (
        sum(finding.fix is not None and finding.fix.safety is safety for finding in findings)
        for safety in (Safety.SAFE, Safety.UNSAFE)
    )
    if unsafe_fixes:
        safe, unsafe = safe + unsafe, 0
    if not safe:
        return f"{unsafe} fixable with --unsafe-fixes" if unsafe else ""
    return f"{safe} fixable with --fix" + (f", {unsafe} with --unsafe-fixes" if unsafe else "")


def fixed(findings: int, files: int, would: bool = False) -> str:
    """Say how many findings were fixed, or would be, in how many files."""
    verb = "Would fix" if would else "Fixed"
    return (
        f"{verb} {number(findings, 'finding')} in {_files(files)}"
        if findings
        else f"{verb} nothing"
    )


def adopted(
    steps: int, changed: int, files: int, left: int, passed_over: int = 0, would: bool = False
) -> str:
    """Say in how many steps files came to the device pattern, and how much is left to do."""
    why_nothing = (
        "nothing there uses torch"
        if passed_over == files
        else "nothing is trained or sent to an accelerator there, or a device is chosen for it"
    )
    verb = "Would adopt" if would else "Adopted"
    text = (
        f"{verb} {_files(changed)} in {number(steps, 'step')}"
        if steps
        else f"Nothing to adopt in {_files(files)}{'' if left else f': {why_nothing}'}"
    )
    return text + (f"; {left} left to you" if left else "")


def nothing(files: int, passed_over: int = 0, *, new: bool = False) -> str:
    """Say that nothing was found, or nothing new, and where; and how many were not looked into."""
    text = f"No {'new ' if new else ''}device mistakes found in {_files(files)}"
    if not passed_over:
        return text
    without = "without torch, not parsed"
    return f"{text} ({without})" if passed_over == files else f"{text} ({passed_over} {without})"


def _files(count: int) -> str:
    return number(count, "file") or "0 files"


def no_files(paths: Sequence[str]) -> str:
    """Say that there was nothing to check, and where it was looked for."""
    return f"warning: no Python files or notebooks found in {', '.join(paths) or '.'}"


def number(count: int, noun: str) -> str:
    """Count things; nothing where there are none."""
    return f"{count} {noun}{'s' if count != 1 else ''}" if count else ""


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(filter(None, parts))
