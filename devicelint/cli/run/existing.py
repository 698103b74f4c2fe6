"""Which existing findings are reported: not those in a baseline."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli import terminal

if TYPE_CHECKING:
    from devicelint.cli.run.baseline import BaselineInUse, BaselineWriter
    from devicelint.cli.run.changed import ChangedLines
    from devicelint.cli.run.suppress import CommentWriter
    from devicelint.config import Config
    from devicelint.linter.result import CheckResult


class ExistingFindings:
    """Stands between what is found and what is reported."""

    def __init__(self, options: Namespace) -> None:
        """Read what the options name; raises UsageError or InputError."""
        self.options = options
        self._baselines: dict[Path, BaselineInUse] = {}
        self._writing = self._over(options.write_baseline) if options.write_baseline else None
        if options.baseline:
            self._baseline(Path(options.baseline))
        self._changed = self._changed_since(options.diff_base) if options.diff_base else None
        self._adding = self._added() if options.add_noqa or options.add_ignore else None

    @property
    def is_read_only(self) -> bool:
        """Whether findings are reported, and not fixed, whatever else is asked for."""
        return self._adding is not None

    @property
    def would_change(self) -> bool:
        """Whether any file would get a comment."""
        return self._adding is not None and self._adding.files > 0

    def filtered(self, checked: CheckResult, config: Config) -> CheckResult:
        """What of a file is to be reported; raises InputError for a baseline that is none."""
        if self._writing is not None:
            return self._writing.took(checked, config)
        if known := self._baseline_of(config):
            checked = known.filtered(checked, config)
        if self._changed is not None:
            checked = self._changed.filtered(checked, config)
        return self._adding.filtered(checked) if self._adding else checked

    def reported(self, checked: CheckResult, config: Config) -> CheckResult:
        """The same, of a text that is on its way to the report."""
        if self._writing is not None:
            return checked
        if known := self._baseline_of(config):
            checked = known.reported(checked)
        return self._changed.reported(checked, config) if self._changed else checked

    @property
    def hides_findings(self) -> bool:
        """Whether more was found than was reported."""
        known = any(each.hidden for each in self._baselines.values())
        return known or (self._changed is not None and self._changed.hidden > 0)

    @property
    def has_failed(self) -> bool:
        """Whether a baseline is out of date that is not to be."""
        known = self._baselines.values()
        return self.options.fail_on_stale and any(each.all_stale() for each in known)

    def close(self) -> None:
        """Write the baseline, or say how much was hidden; raises InputError."""
        if self._writing is not None:
            lines = [self._writing.write()]
        else:
            verbose = self.options.verbose
            lines = [line for each in self._baselines.values() for line in each.summary(verbose)]
        if self._changed and self._changed.hidden:
            lines.append(self._changed.summary())
        if self._adding is not None:
            lines.insert(0, self._adding.summary())
        for line in () if self.options.quiet else lines:
            terminal.say(line)

    def _over(self, path: str) -> BaselineWriter:
        from devicelint.cli.run.baseline import BaselineWriter

        return BaselineWriter.over(Path(path))

    def _added(self) -> CommentWriter:
        from devicelint.cli.run.suppress import CommentWriter

        return CommentWriter.asked_for(self.options)

    def _changed_since(self, name: str) -> ChangedLines:
        from devicelint.cli.run.changed import ChangedLines

        return ChangedLines(name, self.options.paths)

    def _baseline_of(self, config: Config) -> BaselineInUse | None:
        if self.options.no_baseline or config.baseline is None:
            return None
        return self._baseline(config.baseline)

    def _baseline(self, path: Path) -> BaselineInUse:
        shown = _as_seen_from_here(path)
        if shown not in self._baselines:
            from devicelint.cli.run.baseline import BaselineInUse

            self._baselines[shown] = BaselineInUse.of(shown)
        return self._baselines[shown]


def _as_seen_from_here(path: Path) -> Path:
    absolute, here = Path(os.path.abspath(path)), Path.cwd()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else path
