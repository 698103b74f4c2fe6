"""What of old code is told: not what a baseline knows."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli import terminal

if TYPE_CHECKING:
    from devicelint.cli.run.baseline import Known, Writing
    from devicelint.cli.run.changed import Changed
    from devicelint.cli.run.suppress import Adding
    from devicelint.config import Config
    from devicelint.linter.result import CheckResult


class OldCode:
    """Lies between what is found and what is told."""

    def __init__(self, options: Namespace) -> None:
        """Read what the options name; raises UsageError or InputError."""
        self.options = options
        self._baselines: dict[Path, Known] = {}
        self._writing = self._over(options.write_baseline) if options.write_baseline else None
        if options.baseline:
            self._baseline(Path(options.baseline))
        self._changed = self._changed_since(options.diff_base) if options.diff_base else None
        self._adding = self._added() if options.add_noqa or options.add_ignore else None

    @property
    def is_read_only(self) -> bool:
        """Whether findings are told, and not fixed, whatever else is asked for."""
        return self._adding is not None

    @property
    def would_change(self) -> bool:
        """Whether any file would get a comment."""
        return self._adding is not None and self._adding.files > 0

    def filtered(self, checked: CheckResult, config: Config) -> CheckResult:
        """What of a file is to be told; raises InputError for a baseline that is none."""
        if self._writing is not None:
            return self._writing.took(checked, config)
        if known := self._known_by(config):
            checked = known.filtered(checked, config)
        if self._changed is not None:
            checked = self._changed.filtered(checked, config)
        return self._adding.filtered(checked) if self._adding else checked

    def reported(self, checked: CheckResult, config: Config) -> CheckResult:
        """The same, of a text that is on its way to what is told."""
        if self._writing is not None:
            return checked
        if known := self._known_by(config):
            checked = known.reported(checked)
        return self._changed.reported(checked, config) if self._changed else checked

    @property
    def keeps_back(self) -> bool:
        """Whether more was found than was told."""
        known = any(each.kept_back for each in self._baselines.values())
        return known or (self._changed is not None and self._changed.kept_back > 0)

    @property
    def has_failed(self) -> bool:
        """Whether a baseline is out of date that is not to be."""
        known = self._baselines.values()
        return self.options.fail_on_stale and any(each.all_stale() for each in known)

    def close(self) -> None:
        """Write the baseline, or tell how much was kept back; raises InputError."""
        if self._writing is not None:
            lines = [self._writing.write()]
        else:
            verbose = self.options.verbose
            lines = [line for each in self._baselines.values() for line in each.told(verbose)]
        if self._changed and self._changed.kept_back:
            lines.append(self._changed.told())
        if self._adding is not None:
            lines.insert(0, self._adding.told())
        for line in () if self.options.quiet else lines:
            terminal.say(line)

    def _over(self, path: str) -> Writing:
        from devicelint.cli.run.baseline import Writing

        return Writing.over(Path(path))

    def _added(self) -> Adding:
        from devicelint.cli.run.suppress import Adding

        return Adding.asked_for(self.options)

    def _changed_since(self, name: str) -> Changed:
        from devicelint.cli.run.changed import Changed

        return Changed(name, self.options.paths)

    def _known_by(self, config: Config) -> Known | None:
        if self.options.no_baseline or config.baseline is None:
            return None
        return self._baseline(config.baseline)

    def _baseline(self, path: Path) -> Known:
        shown = _as_seen_from_here(path)
        if shown not in self._baselines:
            from devicelint.cli.run.baseline import Known

            self._baselines[shown] = Known.of(shown)
        return self._baselines[shown]


def _as_seen_from_here(path: Path) -> Path:
    absolute, here = Path(os.path.abspath(path)), Path.cwd()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else path
