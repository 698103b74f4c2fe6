"""Fixes of one file that have to be written in another file of the run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli.run.inputs import STDIN, FileInput, Input
from devicelint.cli.run.search import python_files
from devicelint.finding import FAR
from devicelint.linter import lint
from devicelint.linter.fix_files import fix_files
from devicelint.workspace.files import replace_files

if TYPE_CHECKING:
    from devicelint.cli.run.settings import RunSettings
    from devicelint.config import Config
    from devicelint.linter.lint import Fixed
    from devicelint.linter.result import CheckResult
    from devicelint.text.source import SourceFile
    from devicelint.workspace.project import Project


class OtherFiles:
    """The files of a run that a fix of another may change: no others are."""

    def __init__(self, project: Project, paths: Sequence[str], settings: RunSettings) -> None:
        """Look for nothing yet."""
        self._project = project
        self._paths = [Path(path) for path in paths or ["."] if path != STDIN]
        self._settings = settings

    @cached_property
    def _files(self) -> dict[str, Input]:
        """The files by where they are; what cannot be searched is reported elsewhere."""
        return {
            os.path.abspath(found): FileInput(found)
            for path in self._paths
            for found in python_files(
                [path], self._settings.config_for(path), self._settings.config_for
            )
            if isinstance(found, Path)
        }

    def source(self, each: Input) -> SourceFile:
        """What a file says, or is going to say: nothing is written where changes are shown."""
        return self._project.held(each.path) or each.source()

    def needed(self, each: Input, fixed: Fixed, config: Config) -> list[Input]:
        """The other files among which one may be that a fix has to change as well."""
        own = os.path.abspath(each.path)
        reached = self._project.rests_on(fixed.before) - {own}
        if not reached or not reached & self._files.keys():
            return []
        found = fixed.remaining
        if fixed.applied:  # Something in this file may have hidden what another one makes.
            found = lint.check(fixed.before, config, self._project).findings
        wanted = any(finding.unfixed == FAR for finding in found)
        return [self._files[o] for o in sorted(reached & self._files.keys())] if wanted else []

    def fixed(
        self,
        configs: Mapping[Input, Config],
        reported: Callable[[CheckResult, Config], CheckResult],
    ) -> dict[Input, Fixed]:
        """What is made of files together, of what is reported each."""
        by_path = {each.path: config for each, config in configs.items()}
        sources = [self.source(each) for each in configs]

        def reported_of(checked: CheckResult) -> CheckResult:
            return reported(checked, by_path[checked.source.path])

        fixed = fix_files(sources, by_path.__getitem__, self._project, reported=reported_of)
        return dict(zip(configs, fixed, strict=True))

    def write(self, fixed: Mapping[Input, Fixed]) -> bool:
        """Write all that has changed, or nothing; whether there was any.  Raises InputError."""
        changed = _changed(fixed)
        if changed:
            replace_files([(each.place, one.after.to_bytes()) for each, one in changed.items()])
        return bool(changed)

    def hold(self, fixed: Mapping[Input, Fixed]) -> None:
        """Go on as though all that has changed were written."""
        for one in _changed(fixed).values():
            self._project.hold(one.after)


def _changed(fixed: Mapping[Input, Fixed]) -> dict[Input, Fixed]:
    return {each: one for each, one in fixed.items() if one.after.text != one.before.text}
