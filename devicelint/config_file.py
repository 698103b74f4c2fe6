"""A table of a TOML file, whose mistakes are told with the line that they are on."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from devicelint.finding import InputError
from devicelint.selector import hint

_PLACE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
_HEADER = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*[\"']?devicelint\b.*$", re.MULTILINE)
_KINDS = {
    bool: "true or false",
    str: "a string",
    list: "a list",
    dict: "a table",
    int: "a number",
    float: "a number",
}


class ConfigError(InputError):
    """A configuration that devicelint cannot understand."""


@dataclass(frozen=True)
class Table:
    """The table `[tool.devicelint]`, asked for one key after the other.

    What has not the type that it is asked for raises ConfigError.
    """

    path: Path
    text: str
    values: dict[str, object]

    def error(self, message: str, *words: str) -> ConfigError:
        """An error where the last of `words`, found one after the other, stands in the table."""
        found = _HEADER.search(self.text)
        offset = found.start() if found else 0
        for word in filter(None, words):
            written = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
            after = written.search(self.text, offset)
            offset = after.start() if after else offset
        before = self.text[:offset].split("\n")
        return ConfigError(str(self.path), len(before), len(before[-1]), message)

    def only(self, keys: Iterable[str]) -> None:
        """Raises for a key that is none of `keys`."""
        keys = tuple(keys)
        for key in self.values:
            if key not in keys:
                raise self.error(f'unknown key "{key}" in [tool.devicelint]{hint(key, keys)}', key)

    def flag(self, key: str) -> bool:
        """True or false; false where the key is missing."""
        value = self.values.get(key, False)
        if isinstance(value, bool):
            return value
        raise self._wrong_type(key, value, "true or false", key)

    def string(self, key: str) -> str | None:
        """A string; None where the key is missing."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self._wrong_type(key, value, "a string", key)

    def strings(self, key: str) -> tuple[str, ...] | None:
        """A list of strings; None where the key is missing."""
        return self._strings(self.values[key], key, key) if key in self.values else None

    def string_lists(self, key: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """A table of lists of strings, in the file's order."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong_type(key, value, "a table", key)
        return tuple(
            (name, self._strings(each, f"{key}.{name}", key, name)) for name, each in value.items()
        )

    def _strings(self, value: object, key: str, *words: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self._wrong_type(key, value, "a list of strings", *words)
        for each in value:
            if not isinstance(each, str):
                found = f"{_kind(each)} in it"
                raise self.error(f'"{key}" must be a list of strings, but has {found}', *words)
        return tuple(value)

    def _wrong_type(self, key: str, value: object, wanted: str, *words: str) -> ConfigError:
        return self.error(f'"{key}" must be {wanted}, not {_kind(value)}', *words)


def read_table(path: Path) -> Table | None:
    """The table `[tool.devicelint]` of the file `path`; None where it has none."""
    text = _read(path)
    values = _parse(text, path)
    for name in ("tool", "tool.devicelint"):
        if (key := name.rpartition(".")[2]) not in values:
            return None
        inner = values[key]
        if not isinstance(inner, dict):
            message = f'"{name}" must be a table, not {_kind(inner)}'
            raise Table(path, text, {}).error(message, key)
        values = inner
    return Table(path, text, values)


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
        return data.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise ConfigError(str(path), 1, 0, message) from None
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").split("\n")
        raise ConfigError(str(path), len(before), len(before[-1]), "is not UTF-8") from None


def _parse(text: str, path: Path) -> dict[str, object]:
    try:
        return _toml_reader()(text)
    except RecursionError:
        message = "is not valid TOML: nested too deeply"
        raise ConfigError(str(path), 1, 0, message) from None
    except ValueError as error:  # TOMLDecodeError is one; so is a number with too many digits.
        message = str(error)
    place = _PLACE.search(message)
    problem = f"is not valid TOML: {_PLACE.sub('', message)}"
    if place is None:
        raise ConfigError(str(path), 1, 0, problem)
    if place["line"] is None:
        last = text.split("\n")
        raise ConfigError(str(path), len(last), len(last[-1]), problem)
    raise ConfigError(str(path), int(place["line"]), int(place["column"]) - 1, problem)


def _toml_reader() -> Callable[[str], dict[str, object]]:
    # Few runs meet a pyproject.toml, and none should pay for reading one before it does.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a date or time")
