"""The settings: one field of `Config` each, and what they mean together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from devicelint.config.assumptions import Assumptions, StubFile, Stubs
from devicelint.config.deciding import Decision, Vote, closest, decided, votes
from devicelint.config.kinds import (
    Boolean,
    Choice,
    PathTo,
    Patterns,
    Rules,
    TableOf,
    Text,
    pattern_key,
    rule_key,
)
from devicelint.config.origin import OptionOrigin, Origins
from devicelint.config.patterns import Pattern, covers, first_meaning, matches
from devicelint.config.setting import Setting, setting, settings_of
from devicelint.config.sureness import SURENESS, Sureness
from devicelint.domain.torch_release import TorchRelease, release_text, torch_release
from devicelint.finding import Certainty, Severity
from devicelint.text.selectors import specificity

if TYPE_CHECKING:
    from devicelint.domain.assumptions import Assumption

DeviceStyle = Literal["to", "accelerator"]
DEVICE_STYLES: tuple[DeviceStyle, ...] = get_args(DeviceStyle)

Level = Severity | None
"""How much the findings of a rule matter; None where they are not reported."""
LEVELS: Mapping[str, Level] = {**{each.value: each for each in Severity}, "off": None}


@dataclass(frozen=True, kw_only=True)
class Config:
    """Which rules hold for which files; by default every rule that is on by default, everywhere.

    A field that is a `setting` is a key of the configuration: what is said here is all there is
    to say, and `docs/configuration.md` has it from here.
    """

    extend: Path | None = setting(
        PathTo(),
        None,
        "Another file of settings to build on. The keys of the extending file win; the entries of "
        "tables are merged.",
        unset="nothing",
    )
    select: tuple[str, ...] | None = setting(
        Rules(),
        None,
        "The rules to check: codes, code prefixes or names.",
        unset="the rules that are on by default",
    )
    extend_select: tuple[str, ...] = setting(
        Rules(),
        (),
        "Rules to check in addition, for example rules that are off by default. "
        "Adds to the list of the file that `extend` names.",
        adds=True,
    )
    ignore: tuple[str, ...] = setting(
        Rules(), (), "Rules not to check. A more specific entry of `select` wins."
    )
    severity: tuple[tuple[str, Level], ...] = setting(
        TableOf("a table of severities", Choice(LEVELS), rule_key),
        (),
        "The severity of the findings of a rule. The most specific entry wins. "
        '`"off"` means the same as `ignore`. An entry with the full code or the name of a rule '
        "that is off by default turns this rule on.",
    )
    per_file_ignores: tuple[tuple[Pattern, tuple[str, ...]], ...] = setting(
        TableOf("a table of lists of rules", Rules(), pattern_key),
        (),
        "Path patterns, each with the rules not to report in the files that match.",
    )
    preview: bool = setting(
        Boolean(), default=False, documentation="Allow rules in preview to be selected."
    )
    certainty: Sureness = setting(
        Choice[Sureness]({each: each for each in SURENESS}),
        "contract",
        "How certain a finding has to be. `certain` reports findings about devices that the code "
        "itself names. `contract` adds findings that follow from what a function promises its "
        "callers. `possible` adds findings that depend on what a caller may happen to do.",
    )
    exclude: tuple[Pattern, ...] = setting(
        Patterns(),
        (),
        "Path patterns of files and folders to skip when folders are searched.",
    )
    extend_exclude: tuple[Pattern, ...] = setting(
        Patterns(),
        (),
        "Path patterns to skip, in addition to those of `exclude`. "
        "Adds to the patterns of the file that `extend` names.",
        adds=True,
    )
    respect_gitignore: bool = setting(
        Boolean(),
        default=True,
        documentation="When folders are searched, skip files that Git ignores.",
    )
    unsafe_fixes: bool = setting(
        Boolean(),
        default=False,
        documentation="Let `--fix` also make fixes that may change what the program does.",
    )
    torch_version: TorchRelease | None = setting(
        Text("a release of torch", torch_release, release_text),
        None,
        "The oldest release of torch that the code has to support. Fixes only use its features.",
        unset="the newest",
    )
    device_style: DeviceStyle = setting(
        Choice[DeviceStyle]({style: style for style in DEVICE_STYLES}),
        "to",
        "How fixes choose a device: with `torch.cuda.is_available()` and the like, or with "
        "`torch.accelerator` (torch 2.6 or later).",
    )
    baseline: Path | None = setting(
        PathTo(),
        None,
        "A file of existing findings to hide. `--write-baseline` writes it.",
        unset="none",
    )
    assume: tuple[Assumption, ...] = setting(
        Assumptions(),
        (),
        "What names stand for and what calls return, where the source does not show it: see "
        "[assumptions](assume.md).",
    )
    stubs: tuple[StubFile, ...] = setting(
        Stubs(),
        (),
        "Files that state what functions and modules do to devices, where devicelint cannot see "
        "their code: see [stubs](assume.md#stubs-of-your-own).",
        unset="`devicelint.pyi` beside the configuration, if there is one",
    )
    cache_dir: Path | None = setting(
        PathTo(),
        None,
        "The folder of the cache.",
        unset='".devicelint_cache" in the folder of the settings',
    )

    root: Path | None = None
    """The folder that path patterns start from; None for the current one."""
    adopts: bool = False
    """Whether files are to be brought to the device pattern; see `for_adoption`."""
    severity_selects: bool = True
    """Whether `severity` turns rules on and off; not where the command line selects."""
    files: tuple[Path, ...] = field(default=(), compare=False, repr=False)
    """The files that all this is from: the nearest, and those that it extends."""
    origins: Origins = field(default_factory=dict, compare=False, repr=False)

    def for_adoption(self) -> Config:
        """This configuration, with all that brings a file to the device pattern selected.

        `ignore` and `per_file_ignores` hold there, too; `select` is about checks alone.
        """
        return replace(self, select=None, adopts=True)

    @property
    def asks_torch(self) -> bool:
        """Whether fixes ask torch for the accelerator, as they can since torch 2.6."""
        old = self.torch_version is not None and self.torch_version < (2, 6)
        return self.device_style == "accelerator" and not old

    def selects(self, code: str, name: str, *, default: bool = True) -> bool:
        """Whether the rule `code`, called `name`, is to be checked at all.

        `default` is whether the rule is on where nothing selects it.
        """
        return self.decision(code, name, default=default).on

    def decision(self, code: str, name: str, *, default: bool = True) -> Decision:
        """Whether the rule is to be checked at all, and what says so.

        Of `select` and `extend_select` on the one side and `ignore` on the other, the one that
        names the rule more closely decides, and `ignore` where both do so equally.  A severity
        is on the one side where it names the rule alone, and `off` is on the other.
        """
        usual = Vote(int(default)) if self.select is None else Vote(0, "select")
        wanting = [usual, *votes("select", self.select or (), code, name)]
        wanting += votes("extend-select", self.extend_select, code, name)
        unwanting = votes("ignore", self.ignore, code, name)
        if self.severity_selects and (level := self._level_of(code, name)):
            (vote,) = votes("severity", level[:1], code, name)
            if level[1] is None:
                unwanting.append(vote)
            elif vote.closeness == len(code):
                wanting.append(vote)
        return decided(wanting, unwanting)

    def names(self, code: str, name: str) -> bool:
        """Whether the settings ask for a rule by its own code or name."""
        asked = (*(self.select or ()), *self.extend_select)
        return closest(asked, code, name) >= len(code)

    def reports(self, certainty: Certainty) -> bool:
        """Whether findings that are as sure as that are reported."""
        return certainty in SURENESS[self.certainty]

    def severity_of(self, code: str, name: str, usual: Severity) -> Severity:
        """How much a finding of a rule matters that by itself would matter as much as `usual`."""
        level = self._level_of(code, name)
        return usual if level is None or level[1] is None else level[1]

    def _level_of(self, code: str, name: str) -> tuple[str, Level] | None:
        """The entry that names the rule most closely, and the last of those."""
        named = [entry for entry in self.severity if specificity(entry[0], code, name)]
        return max(
            reversed(named), key=lambda entry: specificity(entry[0], code, name), default=None
        )

    def holds_for(self, code: str, name: str, path: str) -> bool:
        """Whether a rule that is checked is reported for the file `path`."""
        return self.ignored_by(code, name, path) is None

    def ignored_by(self, code: str, name: str, path: str) -> Pattern | None:
        """The path pattern of `per_file_ignores` that ignores a rule in the file `path`."""
        naming = (each for each, codes in self.per_file_ignores if closest(codes, code, name))
        return self._first(naming, path, covers)

    def excludes(self, path: str | Path) -> bool:
        """Whether `path` itself, which is met on the way, is to be passed over."""
        return self.excluding(path) is not None

    def excluding(self, path: str | Path) -> Pattern | None:
        """The pattern of `exclude` that passes over `path` itself."""
        return self._first((*self.exclude, *self.extend_exclude), path, matches)

    def excludes_below(self, path: str | Path) -> bool:
        """Whether `path`, or a folder that it is in, would be passed over on the way."""
        return self._first((*self.exclude, *self.extend_exclude), path, covers) is not None

    def _first(
        self, patterns: Iterable[Pattern], path: str | Path, means: Callable[[str, str], bool]
    ) -> Pattern | None:
        return first_meaning(patterns, path, self.root or Path.cwd(), means)

    def with_command_line(
        self,
        select: Iterable[str] | None = None,
        ignore: Iterable[str] | None = None,
        unsafe_fixes: bool | None = None,
        **options: Any,
    ) -> Config:
        """This configuration, as the options of one run change it; None changes nothing.

        `select` takes the place of the file's `select`, `extend_select` and `ignore`, so that what
        is asked for is what is shown; `ignore` alone adds to the file's, as `extend_select` and
        `extend_exclude` do.
        `options` are other settings by the names of their fields.
        """
        changed = self if select is None else self._with_selection(select)
        adding = {name: options.pop(name, None) for name in ("extend_select", "extend_exclude")}
        adding["ignore"] = ignore
        for name, added in adding.items():
            if added is not None:
                items = tuple(added)
                added_items = tuple(map(str, items))
                changed = changed._with_option(name, (*getattr(changed, name), *items), added_items)
        for name, value in {"unsafe_fixes": unsafe_fixes, **options}.items():
            if value is not None:
                changed = changed._with_option(name, value)
        return changed

    def _with_selection(self, select: Iterable[str]) -> Config:
        changed = replace(self, severity_selects=False)._with_option("select", tuple(select))
        for name in ("extend_select", "ignore"):
            changed = changed._with_option(name, (), option="--select")
        return changed

    def _with_option(
        self, name: str, value: object, items: Iterable[str] = (), option: str = ""
    ) -> Config:
        """This configuration with a setting that an option says; `items` are what it adds."""
        key = name.replace("_", "-")
        origin = OptionOrigin(option or _OPTIONS.get(key, f"--{key}"))
        ways: list[tuple[str, ...]] = [(key,), *((key, item) for item in items)]
        kept = {way: was for way, was in self.origins.items() if items or way[0] != key}
        changed: dict[str, Any] = {name: value, "origins": {**kept, **dict.fromkeys(ways, origin)}}
        return replace(self, **changed)


_OPTIONS = {"device-style": "--style"}
"""What sets a key on the command line, where that is not called after it."""

SETTINGS: Mapping[str, Setting] = settings_of(Config)
"""Every key of the configuration."""
