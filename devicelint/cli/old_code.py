"""What of old code is told: not what a baseline knows."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.baseline import (
    Baseline,
    BaselineError,
    Key,
    count,
    is_overwritable,
    read_baseline,
)
from devicelint.cli import terminal
from devicelint.cli.adding import Adding
from devicelint.cli.usage import UsageError
from devicelint.reporters import known as sentences
from devicelint.rule_choice import checked_codes

if TYPE_CHECKING:
    from devicelint.checked import Checked
    from devicelint.cli.changed import Changed
    from devicelint.config import Config


class OldCode:
    """Lies between what is found and what is told."""

    def __init__(self, options: Namespace) -> None:
        """Read what the options name; raises UsageError or InputError."""
        self.options = options
        self._baselines: dict[Path, _Known] = {}
        self._writing: _Writing | None = None
        if options.write_baseline:
            self._writing = _Writing.over(Path(options.write_baseline))
        elif options.baseline:
            self._baseline(Path(options.baseline))
        self._changed = self._changed_since(options.diff_base) if options.diff_base else None
        self._adding = Adding.asked_for(options)

    @property
    def is_read_only(self) -> bool:
        """Whether findings are told, and not mended, whatever else is asked for."""
        return self._adding is not None

    @property
    def would_change(self) -> bool:
        """Whether any file would get a comment."""
        return self._adding is not None and self._adding.files > 0

    def _changed_since(self, name: str) -> Changed:
        from devicelint.cli.changed import Changed

        return Changed(name, self.options.paths)

    def sifted(self, checked: Checked, config: Config) -> Checked:
        """What of a file is to be told; raises InputError for a baseline that is none."""
        if self._writing is not None:
            return self._writing.took(checked, config)
        if known := self._known_by(config):
            checked = known.sifted(checked, config)
        if self._changed is not None:
            checked = self._changed.sifted(checked, config)
        return self._adding.sifted(checked) if self._adding else checked

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

    def heard(self, checked: Checked, config: Config) -> Checked:
        """The same, of a text that is on its way to what is told."""
        if self._writing is not None:
            return checked
        if known := self._known_by(config):
            new = known.baseline.sift(checked.findings, checked.source).new
            checked = replace(checked, findings=new)
        return self._changed.heard(checked, config) if self._changed else checked

    def close(self) -> None:
        """Write the baseline, or tell how much was kept back; raises InputError."""
        if self._writing is not None:
            lines = [self._writing.write()]
        else:
            verbose = self.options.verbose
            lines = [line for each in self._baselines.values() for line in each.told(verbose)]
        if self._changed and self._changed.kept_back:
            lines.append(sentences.unchanged(self._changed.kept_back, self._changed.name))
        if self._adding is not None:
            lines.insert(0, self._adding.told())
        for line in () if self.options.quiet else lines:
            terminal.say(line)

    def _known_by(self, config: Config) -> _Known | None:
        if self.options.no_baseline or config.baseline is None:
            return None
        return self._baseline(config.baseline)

    def _baseline(self, path: Path) -> _Known:
        shown = _as_seen_from_here(path)
        if shown not in self._baselines:
            self._baselines[shown] = _Known(read_baseline(shown))
        return self._baselines[shown]


def _as_seen_from_here(path: Path) -> Path:
    absolute, here = Path(os.path.abspath(path)), Path.cwd()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else path


@dataclass
class _Known:
    """A baseline, and what came of its entries."""

    baseline: Baseline
    kept_back: int = 0
    stale: dict[str, Counter[Key]] = field(default_factory=dict)

    def sifted(self, checked: Checked, config: Config) -> Checked:
        """What of a file is new."""
        sifted = self.baseline.sift(checked.findings, checked.source)
        self.kept_back += len(sifted.known)
        if sifted.stale:
            asked = checked_codes(config, checked.source.path)
            name = self.baseline.name_of(checked.source.path)
            self.stale[name] = Counter({k: n for k, n in sifted.stale.items() if k.code in asked})
        return replace(checked, findings=sifted.new)

    def all_stale(self) -> dict[str, Counter[Key]]:
        """The entries for what is found no more, also of files that are gone."""
        gone = {
            name: entries
            for name, entries in self.baseline.files.items()
            if not self.baseline.place_of(name).exists()
        }
        return {name: entries for name, entries in (self.stale | gone).items() if entries}

    def told(self, verbose: bool) -> list[str]:
        """How much was known, and which entries nothing is found for any more."""
        path = str(self.baseline.path)
        lines = [sentences.kept_back(self.kept_back, path)]
        lines += sentences.stale(self.all_stale(), path, in_detail=verbose)
        return [line for line in lines if line]


@dataclass
class _Writing:
    """A baseline that takes all that is found."""

    before: Baseline
    files: dict[str, Counter[Key]] = field(default_factory=dict)

    @classmethod
    def over(cls, path: Path) -> _Writing:
        """Begin with what a file knows already; one that a merge has broken knows nothing."""
        if not is_overwritable(path):
            raise UsageError(f"--write-baseline: {path} is no baseline, and is left as it is")
        try:
            return cls(read_baseline(path))
        except BaselineError:
            return cls(Baseline(path))

    def took(self, checked: Checked, config: Config) -> Checked:
        """Nothing of a file is to be told: all of it is known from now on."""
        name = self.before.name_of(checked.source.path)
        asked = checked_codes(config, checked.source.path)
        kept = {k: n for k, n in self.before.files.get(name, {}).items() if k.code not in asked}
        self.files[name] = Counter(kept) + count(checked.findings, checked.source)
        return replace(checked, findings=())

    def write(self) -> str:
        """Write the file, and say what it knows; what was not looked at stays as it was."""
        from devicelint.made_files import write_file

        left = {
            name: entries
            for name, entries in self.before.files.items()
            if self.before.place_of(name).exists()
        }
        after = Baseline(self.before.path, left | self.files)
        write_file(after.path, after.to_text().encode())
        return sentences.written(self.before.files, after.files, str(after.path))
