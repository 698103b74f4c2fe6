"""Fixes that are offered: those that would be kept, were they made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from devicelint.config import Config
from devicelint.finding import Finding, Safety, Span
from devicelint.linter.lint import fix, is_allowed
from devicelint.linter.result import CheckResult
from devicelint.workspace.project import Project

Refused = Mapping[tuple[str, Span], str]
"""Why the fixes of findings are not kept, by their rules and places."""


def with_offered_fixes(checked: CheckResult, config: Config, project: Project) -> CheckResult:
    """The findings, without the fixes that would do harm, or not help; and why.

    All fixes are tried, as `--fix` would make them, and then those that are unsafe as well.
    """
    safe = [one for one in checked.findings if is_allowed(one, config)]
    unsafe = [one for one in checked.findings if _is_unsafe(one) and one not in safe]
    refused = _refused(checked, config, project) if safe else {}
    more = replace(config, unsafe_fixes=True)
    refused_unsafe = _refused(checked, more, project) if unsafe else {}
    found = (
        _offered(one, refused_unsafe if one in unsafe else refused) for one in checked.findings
    )
    return replace(checked, findings=tuple(found))


def _is_unsafe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.safety is Safety.UNSAFE


def _refused(checked: CheckResult, config: Config, project: Project) -> Refused:
    fixed = fix(checked.source, config, project, known=checked)
    return {(code, place): why for code, place, why in fixed.refused}


def _offered(finding: Finding, refused: Refused) -> Finding:
    why = refused.get((finding.code, finding.span), "")
    return replace(finding, fix=None, unfixed=f"a fix was tried, but {why}") if why else finding
