"""The one way from a file to what is found in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from devicelint.linter.result import CheckResult, concerns_devices
from devicelint.profiling import part

if TYPE_CHECKING:
    from devicelint.config import Config
    from devicelint.text.source import SourceFile
    from devicelint.workspace.project import Project


def examine(source: SourceFile, config: Config, project: Callable[[], Project]) -> CheckResult:
    """What is found in a file; libcst is imported where there is anything to look for."""
    if source.skipped or not concerns_devices(source):
        return CheckResult(source, ())
    with part("import"):
        from devicelint.linter import lint
        from devicelint.linter.offered import with_offered_fixes
    checked = lint.check(source, config, project())
    with part("fixes"):
        return with_offered_fixes(checked, config, project())
