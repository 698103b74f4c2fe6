"""The one way from a file to what is found in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from devicelint.checked import Checked, concerns_devices
from devicelint.timing import part

if TYPE_CHECKING:
    from devicelint.config import Config
    from devicelint.project import Project
    from devicelint.source import SourceFile


def examine(source: SourceFile, config: Config, project: Callable[[], Project]) -> Checked:
    """What is found in a file; libcst is imported where there is anything to look for."""
    if source.skipped or not concerns_devices(source):
        return Checked(source, ())
    with part("import"):
        from devicelint import engine
    return engine.check(source, config, project())
