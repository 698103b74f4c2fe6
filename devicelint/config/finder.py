"""Finds the configuration that holds for a path, and reads it with all that it extends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from devicelint.config.document import ConfigError, SettingsNode, read_settings
from devicelint.config.kinds import Known
from devicelint.config.model import SETTINGS, Config
from devicelint.config.origin import FileOrigin, Origin

FILES = (".devicelint.toml", "devicelint.toml", "pyproject.toml")
"""Where a folder's settings stand; of several, the first one holds."""


@dataclass(frozen=True)
class ConfigFinder:
    """Finds the configuration that holds for a path; reads each file once."""

    known: Known
    """The rules that there are: code to name."""
    _found: dict[Path, Config | ConfigError] = field(default_factory=dict, repr=False)

    def config_for(self, path: Path) -> Config:
        """The configuration of the nearest folder that has one, upwards.

        `path` is a file or a folder.  Without any, the rules hold that are on by default.  Raises
        ConfigError for a file on the way that cannot be understood.
        """
        absolute = Path(os.path.abspath(path))
        folder = absolute if absolute.is_dir() else absolute.parent
        found = self._nearest(folder)
        if isinstance(found, ConfigError):
            raise found
        return found

    def _nearest(self, folder: Path) -> Config | ConfigError:
        # Not a recursion: folders go deeper than Python's calls do.
        passed: list[Path] = []
        while (found := self._found.get(folder)) is None:
            passed.append(folder)
            found = self._in(folder)
            if found is None and folder.parent == folder:
                found = Config()
            if found is not None:
                break
            folder = folder.parent
        self._found.update(dict.fromkeys(passed, found))
        return found

    def _in(self, folder: Path) -> Config | ConfigError | None:
        """What a folder itself says; None where it says nothing."""
        try:
            for name in FILES:
                path = folder / name
                if path.is_file() and (node := read_settings(path)) is not None:
                    return _config(node, self.known, ())
        except ConfigError as error:
            return error
        return None


def unread_beside(config: Config) -> Iterator[Path]:
    """The files of the same folder whose settings those that are read overrule."""
    for path in config.files[:1]:
        after = FILES[FILES.index(path.name) + 1 :] if path.name in FILES else ()
        for other in (path.with_name(name) for name in after):
            if other.is_file() and read_settings(other) is not None:
                yield other


def load_config(explicit: Path | None, start: Path, known: Known) -> Config:
    """The configuration in the file `explicit`, or else the one that holds for `start`.

    `known` are the rules that there are: code to name.  Raises ConfigError.
    """
    if explicit is None:
        return ConfigFinder(known).config_for(start)
    node = read_settings(explicit)
    if node is None:
        raise ConfigError(str(explicit), 1, 0, "has no table [tool.devicelint]")
    return _config(node, known, ())


def _config(node: SettingsNode, known: Known, extending: Sequence[Path]) -> Config:
    """What a file says, and what the files say that it extends; `extending` are those before."""
    node.only(SETTINGS)
    path = Path(os.path.abspath(node.document.path))
    own = dict(node.entries())
    base = Config()
    if "extend" in own:
        base = _base(own["extend"], known, (*extending, path))
    root = path.parent
    values: dict[str, Any] = {}
    origins: dict[tuple[str, ...], Origin] = dict(base.origins)
    for key, setting in SETTINGS.items():
        name = key.replace("-", "_")
        value = getattr(base, name)
        if base.root not in (None, root):
            value = setting.kind.anchored(value, base.root)
        if key in own:
            value = setting.merged(value, setting.kind.read(own[key], known))
            if not (setting.adds or isinstance(own[key].value, dict)):
                origins = {way: origin for way, origin in origins.items() if way[0] != key}
            origins |= _origins(key, own[key])
        else:
            value = setting.kind.unsaid(value, root)
        values[name] = value
    return replace(base, root=root, files=(path, *base.files), origins=origins, **values)


def _origins(key: str, node: SettingsNode) -> dict[tuple[str, ...], Origin]:
    """Where a key stands, and each of its items or entries."""
    found: dict[tuple[str, ...], Origin] = {(key,): FileOrigin(node.document, node.way)}
    if isinstance(node.value, dict):
        for name, each in node.leaves():
            found[key, name] = FileOrigin(node.document, each.way)
    elif isinstance(node.value, list):
        for number, item in enumerate(node.value):
            found[key, str(item)] = FileOrigin(node.document, (*node.way, number))
    return found


def _base(node: SettingsNode, known: Known, extending: Sequence[Path]) -> Config:
    """The configuration that a file extends."""
    path: Path = SETTINGS["extend"].kind.read(node, known)
    met = [os.path.realpath(each) for each in extending]
    if (identity := os.path.realpath(path)) in met:
        circle = " extends ".join(map(str, (*extending[met.index(identity) :], path)))
        raise node.error(f"goes round in a circle: {circle}")
    if not path.is_file():
        raise node.error(f"there is no file {path}")
    found = read_settings(path)
    if found is None:
        raise node.error(f"{path} has no table [tool.devicelint]")
    return _config(found, known, extending)
