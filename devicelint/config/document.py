"""A file with settings, whose mistakes are reported with the line that they are on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from devicelint.config import toml_places
from devicelint.finding import InputError, Location
from devicelint.text.selectors import hint

_KINDS = {
    bool: "true or false",
    str: "a string",
    list: "a list",
    dict: "a table",
    int: "a number",
    float: "a number",
}
_OWN_NAMES = ("devicelint.toml", ".devicelint.toml")
"""Files that hold nothing but settings."""
_TABLE = ("tool", "devicelint")


class ConfigError(InputError):
    """A configuration that devicelint cannot understand."""


@dataclass(frozen=True)
class SettingsDocument:
    """The text of a TOML file, and where in it the settings are."""

    path: Path
    text: str = field(repr=False)
    table: toml_places.Path = ()
    """The way to the table that holds the settings."""

    @cached_property
    def _places(self) -> dict[toml_places.Path, int]:
        return toml_places.places(self.text)

    def location(self, way: toml_places.Path) -> Location:
        """Where a key or an item of the settings stands, or else what it is in."""
        full = (*self.table, *way)
        lengths = range(len(full), 0, -1)
        known = (self._places[full[:n]] for n in lengths if full[:n] in self._places)
        before = self.text[: next(known, 0)].split("\n")
        return Location(len(before), len(before[-1]))

    def error(self, message: str, way: toml_places.Path = ()) -> ConfigError:
        """An error about a key or an item of the settings."""
        return ConfigError(str(self.path), *self.location(way)[:2], message)


@dataclass(frozen=True)
class SettingsNode:
    """A value of the settings, which is asked for what it must be, or else raises ConfigError."""

    document: SettingsDocument
    way: toml_places.Path
    """From the table of the settings."""
    value: object

    @property
    def name(self) -> str:
        """The key, as a message names it."""
        return ".".join(part for part in self.way if isinstance(part, str))

    def error(self, message: str) -> ConfigError:
        """An error about this value."""
        return self.document.error(f'"{self.name}": {message}', self.way)

    def wrong_type(self, wanted: str) -> ConfigError:
        """An error about a value of another type."""
        return self.document.error(
            f'"{self.name}" must be {wanted}, not {_kind(self.value)}', self.way
        )

    def flag(self) -> bool:
        """True or false."""
        if isinstance(self.value, bool):
            return self.value
        raise self.wrong_type("true or false")

    def string(self) -> str:
        """A string."""
        if isinstance(self.value, str):
            return self.value
        raise self.wrong_type("a string")

    def items(self, wanted: str) -> Iterator[SettingsNode]:
        """The strings of a list; `wanted` says what they are."""
        if not isinstance(self.value, list):
            raise self.wrong_type(wanted)
        for number, each in enumerate(self.value):
            way = (*self.way, number)
            if not isinstance(each, str):
                found = f"{_kind(each)} in it"
                raise self.document.error(f'"{self.name}" must be {wanted}, but has {found}', way)
            yield SettingsNode(self.document, way, each)

    def entries(self) -> Iterator[tuple[str, SettingsNode]]:
        """The keys of a table, in the file's order, each with its value."""
        if not isinstance(self.value, dict):
            raise self.wrong_type("a table")
        for key, each in self.value.items():
            yield key, SettingsNode(self.document, (*self.way, key), each)

    def leaves(self) -> Iterator[tuple[str, SettingsNode]]:
        """The same, where a key has dots: TOML takes `self.model` for a table in a table."""
        for name, each in self.entries():
            if isinstance(each.value, dict):
                yield from ((f"{name}.{inner}", one) for inner, one in each.leaves())
            else:
                yield name, each

    def only(self, keys: Iterable[str]) -> None:
        """Raises for a key that is none of `keys`."""
        keys = tuple(keys)
        where = f" in [{'.'.join(self.document.table)}]" if self.document.table else ""  # type: ignore[arg-type]
        for key, node in self.entries():
            if key not in keys:
                message = f'unknown key "{key}"{where}{hint(key, keys)}'
                raise self.document.error(message, node.way)


def read_settings(path: Path) -> SettingsNode | None:
    """The settings that the file `path` holds; None where it is a pyproject.toml without any."""
    text = _read(path)
    document = SettingsDocument(path, text)
    values = _parse(document)
    if path.name in _OWN_NAMES:
        if "devicelint" in _mapping(values.get("tool")):
            message = f"{path.name} holds settings alone: take [tool.devicelint] away"
            raise document.error(message, _TABLE)
        return SettingsNode(document, (), values)
    inner: object = values
    for depth, key in enumerate(_TABLE, start=1):
        if key not in _mapping(inner):
            return None if path.name == "pyproject.toml" else SettingsNode(document, (), values)
        inner = _mapping(inner)[key]
        if not isinstance(inner, dict):
            name = ".".join(_TABLE[:depth])
            message = f'"{name}" must be a table, not {_kind(inner)}'
            raise document.error(message, _TABLE[:depth])
    return SettingsNode(SettingsDocument(path, text, _TABLE), (), inner)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise ConfigError(str(path), 1, 0, message) from None
    except ValueError as error:  # A name with a NUL in it.
        raise ConfigError(str(path), 1, 0, f"cannot be read: {error}") from None
    try:
        # Editors of Windows put a mark of the byte order first.
        return data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").split("\n")
        raise ConfigError(str(path), len(before), len(before[-1]), "is not UTF-8") from None


def _parse(document: SettingsDocument) -> dict[str, object]:
    try:
        return toml_places.toml_reader()(document.text)
    except RecursionError:
        message = "is not valid TOML: nested too deeply"
        raise ConfigError(str(document.path), 1, 0, message) from None
    except ValueError as error:  # TOMLDecodeError is one; so is a number with too many digits.
        problem, line, column = toml_places.complaint(str(error), document.text)
        message = f"is not valid TOML: {problem}"
        raise ConfigError(str(document.path), line, column, message) from None


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a date or time")
