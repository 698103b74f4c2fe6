"""What a setting may be: how it is read, described, and brought together with that of a base."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from devicelint.config.document import SettingsNode
from devicelint.config.patterns import Anchored, Pattern
from devicelint.text.selectors import hint, unknown_selector

T = TypeVar("T")
V = TypeVar("V")

Known = Mapping[str, str]
"""The rules that there are: code to name."""

Schema = dict[str, Any]
"""A part of a JSON schema."""


class SettingKind(Generic[T]):
    """A type of settings; `T` is what the program gets."""

    expected: str
    """What must be written, in words."""

    def read(self, node: SettingsNode, known: Known) -> T:
        """What is written; raises ConfigError where it is something else."""
        raise NotImplementedError

    def merged(self, base: T, own: T) -> T:  # noqa: ARG002 - only tables look at the base
        """What holds in a file that says `own` and extends one that says `base`."""
        return own

    def unsaid(self, base: T, folder: Path) -> T:  # noqa: ARG002 - only files lie in a folder
        """What holds in a file of the folder that says nothing."""
        return base

    def anchored(self, value: T, folder: Path) -> T:  # noqa: ARG002 - only patterns have a folder
        """The value, for a file of another folder that extends this one."""
        return value

    def plain(self, value: T) -> Any:
        """The value as TOML and JSON have it."""
        return value

    def schema(self, known: Known) -> Schema:  # noqa: ARG002 - only rules are known
        """What is written, for editors that complete it; rules are offered, not asked for."""
        return {}


class Boolean(SettingKind[bool]):
    """A choice of two."""

    expected = "true or false"

    def read(self, node: SettingsNode, known: Known) -> bool:  # noqa: ARG002
        """True or false."""
        return node.flag()

    def schema(self, known: Known) -> Schema:  # noqa: ARG002
        """A boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Text(SettingKind[T]):
    """A string that means something: `parse` says what, or raises ValueError saying why not."""

    expected: str
    parse: Callable[[str], T]
    written: Callable[[T], str] = str

    def read(self, node: SettingsNode, known: Known) -> T:  # noqa: ARG002
        """What the string means."""
        text = node.string()
        try:
            return self.parse(text)
        except ValueError as error:
            raise node.error(str(error)) from None

    def plain(self, value: T) -> str:
        """The string."""
        return self.written(value)

    def schema(self, known: Known) -> Schema:  # noqa: ARG002
        """A string."""
        return {"type": "string"}


@dataclass(frozen=True)
class Choice(SettingKind[T]):
    """One of a few words."""

    choices: Mapping[str, T]

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The words."""
        *most, last = (f'"{choice}"' for choice in self.choices)
        return f"{', '.join(most)} or {last}"

    def read(self, node: SettingsNode, known: Known) -> T:  # noqa: ARG002
        """What the word stands for."""
        text = node.string()
        if text in self.choices:
            return self.choices[text]
        raise node.error(f'expected {self.expected}, found "{text}"{hint(text, self.choices)}')

    def plain(self, value: T) -> str:
        """The word."""
        return next(word for word, meant in self.choices.items() if meant == value)

    def schema(self, known: Known) -> Schema:  # noqa: ARG002
        """The words."""
        return {"enum": list(self.choices)}


class Texts(SettingKind[tuple[str, ...]]):
    """A list of strings."""

    expected = "a list of strings"

    def read(self, node: SettingsNode, known: Known) -> tuple[str, ...]:  # noqa: ARG002
        """The strings."""
        return tuple(item.string() for item in node.items(self.expected))

    def plain(self, value: tuple[str, ...]) -> list[str]:
        """The strings."""
        return list(value)

    def schema(self, known: Known) -> Schema:  # noqa: ARG002
        """Strings."""
        return _STRINGS


class Rules(Texts):
    """A list of rules: codes, beginnings of codes, names."""

    def read(self, node: SettingsNode, known: Known) -> tuple[str, ...]:
        """The rules, which are there."""
        return tuple(_rule(item.string(), item, known) for item in node.items(self.expected))

    def schema(self, known: Known) -> Schema:
        """Strings, among them the codes and names of rules."""
        return {"type": "array", "items": {"anyOf": [_named(known), {"type": "string"}]}}


class Patterns(SettingKind[tuple[Pattern, ...]]):
    """A list of path patterns."""

    expected = "a list of strings"

    def read(self, node: SettingsNode, known: Known) -> tuple[Pattern, ...]:  # noqa: ARG002
        """The patterns, from the folder of the file."""
        return tuple(item.string() for item in node.items(self.expected))

    def anchored(self, value: tuple[Pattern, ...], folder: Path) -> tuple[Pattern, ...]:
        """The patterns, which go on from the folder that they were written for."""
        return tuple(_anchored(each, folder) for each in value)

    def plain(self, value: tuple[Pattern, ...]) -> list[str]:
        """The patterns as they are written."""
        return [str(each) for each in value]

    def schema(self, known: Known) -> Schema:  # noqa: ARG002
        """Strings."""
        return _STRINGS


class PathTo(SettingKind[Path | None]):
    """The path of a file or a folder, from the folder of the file that names it."""

    expected = "a path"

    def read(self, node: SettingsNode, known: Known) -> Path:  # noqa: ARG002
        """The path, absolute."""
        return _path(node.string(), node)

    def plain(self, value: Path | None) -> str:
        """The path."""
        return str(value)

    def schema(self, known: Known) -> Schema:  # noqa: ARG002
        """A string."""
        return {"type": "string"}


class Paths(SettingKind[tuple[Path, ...]]):
    """A list of paths."""

    expected = "a list of paths"

    def read(self, node: SettingsNode, known: Known) -> tuple[Path, ...]:  # noqa: ARG002
        """The paths, absolute."""
        return tuple(_path(item.string(), item) for item in node.items(self.expected))

    def plain(self, value: tuple[Path, ...]) -> list[str]:
        """The paths."""
        return [str(each) for each in value]

    def schema(self, known: Known) -> Schema:  # noqa: ARG002
        """Strings."""
        return _STRINGS


K = TypeVar("K")


@dataclass(frozen=True)
class TableOf(SettingKind[tuple[tuple[K, V], ...]], Generic[K, V]):
    """A table whose keys people choose; of a base, it keeps what it does not say anew."""

    expected: str
    values: SettingKind[V]
    key: Callable[[str, SettingsNode, Known], K]

    def read(self, node: SettingsNode, known: Known) -> tuple[tuple[K, V], ...]:
        """The entries, in the file's order."""
        return tuple(
            (self.key(name, each, known), self.values.read(each, known))
            for name, each in node.entries()
        )

    def merged(
        self, base: tuple[tuple[K, V], ...], own: tuple[tuple[K, V], ...]
    ) -> tuple[tuple[K, V], ...]:
        """The entries of both; those of the file itself come last, and alone where both speak."""
        said = {key for key, _ in own}
        return (*(entry for entry in base if entry[0] not in said), *own)

    def anchored(self, value: tuple[tuple[K, V], ...], folder: Path) -> tuple[tuple[K, V], ...]:
        """The entries; those for a pattern go on from the folder that they were written for."""
        if self.key is not pattern_key:
            return value
        return tuple((_anchored(key, folder), each) for key, each in value)  # type: ignore[misc, arg-type]

    def plain(self, value: tuple[tuple[K, V], ...]) -> dict[str, Any]:
        """The entries."""
        return {str(key): self.values.plain(each) for key, each in value}

    def schema(self, known: Known) -> Schema:
        """An object; its keys are offered where they are rules."""
        values = self.values.schema(known)
        offered = _named(known)["enum"] if self.key is rule_key else ()
        return {
            "type": "object",
            "properties": dict.fromkeys(offered, values),
            "additionalProperties": values,
        }


_STRINGS: Schema = {"type": "array", "items": {"type": "string"}}


def _named(known: Known) -> Schema:
    return {"enum": [*known, *known.values()]}


def pattern_key(name: str, node: SettingsNode, known: Known) -> Pattern:  # noqa: ARG001
    """A key that is a path pattern."""
    return name


def rule_key(name: str, node: SettingsNode, known: Known) -> str:
    """A key that names rules."""
    return _rule(name, node, known)


def _rule(selector: str, node: SettingsNode, known: Known) -> str:
    if message := unknown_selector(selector, known):
        raise node.error(message)
    return selector


def _anchored(pattern: Pattern, folder: Path) -> Pattern:
    return Anchored(pattern, folder) if isinstance(pattern, str) else pattern


def _path(text: str, node: SettingsNode) -> Path:
    if not text.strip() or "\0" in text:
        raise node.error(f"{text!r} is no path")
    return Path(os.path.abspath(node.document.path.parent / os.path.expanduser(text)))  # noqa: PTH111
