"""What a project asks of devicelint: the table `[tool.devicelint]` of its pyproject.toml."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from devicelint.config_file import ConfigError, Table, read_table
from devicelint.path_pattern import covers
from devicelint.selector import specificity, unknown_selector
from devicelint.torch_release import TorchRelease, torch_release

__all__ = ["Config", "ConfigError", "ConfigFinder", "load_config"]


DeviceStyle = Literal["to", "accelerator"]
DEVICE_STYLES: tuple[DeviceStyle, ...] = get_args(DeviceStyle)


@dataclass(frozen=True)
class Config:
    """Which rules hold for which files; by default every rule that is on by default, everywhere."""

    select: tuple[str, ...] | None = None
    """Rules to check, by code, beginning of a code, or name; None for those on by default."""
    extend_select: tuple[str, ...] = ()
    """Rules to check besides those."""
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Path patterns, each with the rules that do not hold there."""
    exclude: tuple[str, ...] = ()
    """Path patterns of files and folders that are passed over when folders are searched."""
    unsafe_fixes: bool = False
    root: Path | None = None
    """The folder that path patterns start from; None for the current one."""
    torch_version: TorchRelease | None = None
    """The oldest release of torch that the code has to work with; None for the newest one."""
    device_style: DeviceStyle = "to"
    """How fixes choose a device: by its type, or by `torch.accelerator`."""
    adopts: bool = False
    """Whether files are to be brought to the device pattern; see `for_adoption`."""

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

        Of `select` and `extend_select` on the one side and `ignore` on the other, the one that
        names the rule more closely decides, and `ignore` where both do so equally.  `default` is
        whether the rule is on where nothing selects it.
        """
        usual = int(default) if self.select is None else _closest(self.select, code, name)
        wanted = max(usual, _closest(self.extend_select, code, name))
        return wanted > 0 and _closest(self.ignore, code, name) < wanted

    def holds_for(self, code: str, name: str, path: str) -> bool:
        """Whether a rule that is checked is to be heard about the file `path`."""
        ignoring = [codes for _, codes in self.per_file_ignores if _closest(codes, code, name)]
        if not ignoring:
            return True
        relative = self.relative(path)
        return not any(
            covers(pattern, relative)
            for pattern, codes in self.per_file_ignores
            if codes in ignoring
        )

    def relative(self, path: str | Path) -> str:
        """`path` as path patterns see it: from the configuration's folder, with `/`."""
        start = self.root or Path.cwd()
        try:
            return Path(os.path.relpath(path, start)).as_posix()
        except ValueError:  # On another drive, there is no way from here to there.
            return Path(path).as_posix()

    def with_command_line(
        self,
        select: Iterable[str] | None = None,
        ignore: Iterable[str] | None = None,
        unsafe_fixes: bool | None = None,
        *,
        extend_select: Iterable[str] | None = None,
        torch_version: TorchRelease | None = None,
        device_style: DeviceStyle | None = None,
    ) -> Config:
        """This configuration, as the options of one run change it; None changes nothing.

        `select` takes the place of the file's `select`, `extend_select` and `ignore`, so that what
        is asked for is what is shown; `ignore` alone adds to the file's, as `extend_select` does.
        """
        changed = self
        if select is not None:
            changed = replace(changed, select=tuple(select), extend_select=(), ignore=())
        if extend_select is not None:
            changed = replace(changed, extend_select=(*changed.extend_select, *extend_select))
        if ignore is not None:
            changed = replace(changed, ignore=(*changed.ignore, *ignore))
        if unsafe_fixes is not None:
            changed = replace(changed, unsafe_fixes=unsafe_fixes)
        if torch_version is not None:
            changed = replace(changed, torch_version=torch_version)
        if device_style is not None:
            changed = replace(changed, device_style=device_style)
        return changed


@dataclass(frozen=True)
class ConfigFinder:
    """Finds the configuration that holds for a path; reads each pyproject.toml once."""

    known: Mapping[str, str]
    """The rules that there are: code to name."""
    _found: dict[Path, Config | ConfigError] = field(default_factory=dict, repr=False)

    def config_for(self, path: Path) -> Config:
        """The configuration of the nearest pyproject.toml with `[tool.devicelint]`, upwards.

        `path` is a file or a folder.  Without such a pyproject.toml, everything is on.  Raises
        ConfigError for a pyproject.toml on the way that cannot be understood.
        """
        absolute = Path(os.path.abspath(path))
        folder = absolute if absolute.is_dir() else absolute.parent
        if folder not in self._found:
            self._found[folder] = self._look_in(folder)
        found = self._found[folder]
        if isinstance(found, ConfigError):
            raise found
        return found

    def _look_in(self, folder: Path) -> Config | ConfigError:
        try:
            path = folder / "pyproject.toml"
            if path.is_file() and (table := read_table(path)) is not None:
                return _config(table, folder, self.known)
            return Config() if folder.parent == folder else self.config_for(folder.parent)
        except ConfigError as error:
            return error


def load_config(explicit: Path | None, start: Path, known: Mapping[str, str]) -> Config:
    """The configuration in the file `explicit`, or else the one that holds for `start`.

    `known` are the rules that there are: code to name.  Raises ConfigError.
    """
    if explicit is None:
        return ConfigFinder(known).config_for(start)
    table = read_table(explicit)
    if table is None:
        raise ConfigError(str(explicit), 1, 0, "has no table [tool.devicelint]")
    return _config(table, Path(os.path.abspath(explicit)).parent, known)


_KEYS = (
    "select",
    "extend-select",
    "ignore",
    "per-file-ignores",
    "exclude",
    "unsafe-fixes",
    "torch-version",
    "device-style",
)


def _config(table: Table, root: Path, known: Mapping[str, str]) -> Config:
    table.only(_KEYS)
    config = Config(
        select=table.strings("select"),
        extend_select=table.strings("extend-select") or (),
        ignore=table.strings("ignore") or (),
        per_file_ignores=table.string_lists("per-file-ignores"),
        exclude=table.strings("exclude") or (),
        unsafe_fixes=table.flag("unsafe-fixes"),
        root=root,
        torch_version=_torch_version(table),
        device_style=_device_style(table),
    )
    _refuse_unknown_rules(table, known, config.select or (), "select")
    _refuse_unknown_rules(table, known, config.extend_select, "extend-select")
    _refuse_unknown_rules(table, known, config.ignore, "ignore")
    for pattern, selectors in config.per_file_ignores:
        _refuse_unknown_rules(table, known, selectors, "per-file-ignores", pattern)
    return config


def _device_style(table: Table) -> DeviceStyle:
    text = table.string("device-style")
    for style in DEVICE_STYLES:
        if text in (style, None):
            return style
    wanted = " or ".join(f'"{style}"' for style in DEVICE_STYLES)
    raise table.error(f'"device-style": expected {wanted}, found "{text}"', "device-style")


def _torch_version(table: Table) -> TorchRelease | None:
    text = table.string("torch-version")
    try:
        return None if text is None else torch_release(text)
    except ValueError as error:
        raise table.error(f'"torch-version": {error}', "torch-version") from None


def _refuse_unknown_rules(
    table: Table, known: Mapping[str, str], selectors: Iterable[str], *keys: str
) -> None:
    for selector in selectors:
        if message := unknown_selector(selector, known):
            raise table.error(f'"{".".join(keys)}": {message}', *keys, selector)


def _closest(selectors: Iterable[str], code: str, name: str) -> int:
    return max((specificity(selector, code, name) for selector in selectors), default=0)
