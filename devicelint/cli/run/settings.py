"""The configuration of each file: its pyproject.toml, as the command line changes it."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path

from devicelint.cli import terminal
from devicelint.cli.options.usage import UsageError
from devicelint.config import Config, ConfigFinder, DeviceStyle, Sureness, load_config
from devicelint.config.patterns import Anchored
from devicelint.domain.torch_release import TorchRelease
from devicelint.rule_index import RuleFacts, all_facts, known_rules
from devicelint.text.selectors import unknown_selector


class RunSettings:
    """What holds for a run: options, and the configuration of each folder."""

    def __init__(self, options: Namespace) -> None:
        """Read the file that --config names; refuse rules that do not exist."""
        self._known = known_rules()
        self.select = self._codes("--select", options.select)
        self.extend_select = self._codes("--extend-select", options.extend_select)
        self.ignore = self._codes("--ignore", options.ignore)
        self.unsafe_fixes: bool | None = options.unsafe_fixes
        self.torch_version: TorchRelease | None = options.torch_version
        self.force_exclude: bool = getattr(options, "force_exclude", False)
        self.certainty: Sureness | None = getattr(options, "certainty", None)
        self.device_style: DeviceStyle | None = getattr(options, "style", None)
        baseline: str | None = options.baseline
        self.baseline = Path(os.path.abspath(baseline)) if baseline else None
        self.preview: bool | None = getattr(options, "preview", None)
        self._named_in_vain: set[str] = set()
        self.exclude = _patterns(getattr(options, "exclude", None))
        self.extend_exclude = _patterns(getattr(options, "extend_exclude", None))
        self.respect_gitignore: bool | None = getattr(options, "respect_gitignore", None)
        explicit = options.config
        if explicit and not Path(explicit).is_file():
            raise UsageError(f"--config {explicit}: there is no such file")
        self._explicit = load_config(Path(explicit), Path(), self._known) if explicit else None

    def config_for(self, path: Path) -> Config:
        """Return the configuration of a file or folder; raises ConfigError."""
        found = self._explicit or self._finder.config_for(path)
        config = found.with_command_line(
            self.select,
            self.ignore,
            self.unsafe_fixes,
            extend_select=self.extend_select,
            preview=self.preview,
            exclude=self.exclude,
            extend_exclude=self.extend_exclude,
            respect_gitignore=self.respect_gitignore,
            torch_version=self.torch_version,
            device_style=self.device_style,
            certainty=self.certainty,
            baseline=self.baseline,
        )
        self._warn_of_previews(config)
        return config

    def _warn_of_previews(self, config: Config) -> None:
        """Say once of each rule in preview that is named where previews are not allowed."""
        for rule in () if config.preview else _previews():
            if config.names(rule.code, rule.name) and rule.code not in self._named_in_vain:
                self._named_in_vain.add(rule.code)
                terminal.say(
                    f"warning: {rule.code} {rule.name} is in preview, and is not checked without "
                    "--preview"
                )

    def complaint_about(self, word: str) -> str | None:
        """Return what to say where a word names no rule; None where it does."""
        return unknown_selector(word, self._known)

    @cached_property
    def _finder(self) -> ConfigFinder:
        return ConfigFinder(self._known)

    def _codes(self, option: str, selectors: Iterable[str] | None) -> tuple[str, ...] | None:
        if selectors is None:
            return None
        selectors = tuple(selectors)
        for selector in selectors:
            if complaint := unknown_selector(selector, self._known):
                raise UsageError(f"{option}: {complaint}")
        return selectors


@cache
def _previews() -> tuple[RuleFacts, ...]:
    return tuple(rule for rule in all_facts() if rule.preview)


def _patterns(given: Iterable[str] | None) -> tuple[Anchored, ...] | None:
    """Patterns of the command line, which start from the current folder."""
    return None if given is None else tuple(Anchored(each, Path.cwd()) for each in given)
