"""A baseline of one run: the one that is read, or the one that is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli.options.usage import UsageError
from devicelint.linter.baseline import (
    Baseline,
    BaselineError,
    Key,
    baseline_to_overwrite,
    count,
    read_baseline,
)
from devicelint.linter.rule_selection import checked_codes
from devicelint.output import known as sentences

if TYPE_CHECKING:
    from devicelint.config import Config
    from devicelint.linter.result import CheckResult


@dataclass
class BaselineInUse:
    """A baseline, and what came of its entries."""

    baseline: Baseline
    hidden: int = 0
    stale: dict[str, Counter[Key]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> BaselineInUse:
        """Read a file; raises BaselineError."""
        return cls(read_baseline(path))

    def reported(self, checked: CheckResult) -> CheckResult:
        """What of a file is new."""
        new = self.baseline.filter_known(checked.findings, checked.source).new
        return replace(checked, findings=new)

    def filtered(self, checked: CheckResult, config: Config) -> CheckResult:
        """The same, counted."""
        filtered = self.baseline.filter_known(checked.findings, checked.source)
        self.hidden += len(filtered.known)
        if filtered.stale:
            asked = checked_codes(config, checked.source.path)
            name = self.baseline.name_of(checked.source.path)
            self.stale[name] = Counter({k: n for k, n in filtered.stale.items() if k.code in asked})
        return replace(checked, findings=filtered.new)

    def all_stale(self) -> dict[str, Counter[Key]]:
        """The stale entries, also of files that are gone."""
        gone = {
            name: entries
            for name, entries in self.baseline.files.items()
            if not self.baseline.place_of(name).exists()
        }
        return {name: entries for name, entries in (self.stale | gone).items() if entries}

    def summary(self, verbose: bool) -> list[str]:
        """How much was known, and which entries nothing is found for any more."""
        path = str(self.baseline.path)
        lines = [sentences.hidden(self.hidden, path)]
        lines += sentences.stale(self.all_stale(), path, in_detail=verbose)
        return [line for line in lines if line]


@dataclass
class BaselineWriter:
    """A baseline that takes all that is found."""

    before: Baseline
    files: dict[str, Counter[Key]] = field(default_factory=dict)

    @classmethod
    def over(cls, path: Path) -> BaselineWriter:
        """Begin with the entries of a file; raises UsageError for one that is no baseline."""
        try:
            return cls(baseline_to_overwrite(path))
        except BaselineError as error:
            summary = f"--write-baseline leaves {path} as it is, which {error.message}"
            raise UsageError(summary) from None

    def took(self, checked: CheckResult, config: Config) -> CheckResult:
        """Nothing of a file is to be reported: all of it is known from now on."""
        name = self.before.name_of(checked.source.path)
        asked = checked_codes(config, checked.source.path)
        kept = {k: n for k, n in self.before.files.get(name, {}).items() if k.code not in asked}
        self.files[name] = Counter(kept) + count(checked.findings, checked.source)
        return replace(checked, findings=())

    def write(self) -> str:
        """Write the file, and say what it lists; what was not looked at stays as it was."""
        from devicelint.workspace.atomic_write import write_file

        left = {
            name: entries
            for name, entries in self.before.files.items()
            if self.before.place_of(name).exists()
        }
        after = Baseline(self.before.path, left | self.files)
        write_file(after.path, after.to_text().encode())
        return sentences.written(self.before.files, after.files, str(after.path))
