"""What the editor asks for: settings of the server, as the client sends them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePath
from typing import Any, cast

from devicelint.config import Config
from devicelint.config.sureness import SURENESS, Sureness
from devicelint.domain.torch_release import TorchRelease, torch_release
from devicelint.text.selectors import hint, unknown_selector


@dataclass(frozen=True)
class ServerSettings:
    """What holds besides the project's own configuration, which all other front ends share."""

    enable: bool = True
    """Whether anything is checked."""
    run: str = "onType"
    """When: "onType", or "onSave"."""
    configuration: str | None = None
    """A file that is read in place of the nearest configuration."""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    certainty: Sureness | None = None
    """How sure a finding has to be."""
    unsafe_fixes: bool | None = None
    """Whether *fix all* makes the fixes, too, that may change what the program does."""
    torch_version: TorchRelease | None = None
    inlay_hints: bool = True
    hover: bool = True
    definition: bool = True
    """Whether *go to definition* leads to where a value was moved, too."""
    show_syntax_errors: bool = True

    def config(self, found: Config) -> Config:
        """The configuration of a file, as these settings change it."""
        return found.with_command_line(
            self.select,
            self.ignore,
            self.unsafe_fixes,
            extend_select=self.extend_select,
            certainty=self.certainty,
            torch_version=self.torch_version,
        )


SETTINGS = tuple(
    "".join(part.capitalize() if index else part for index, part in enumerate(one.name.split("_")))
    for one in fields(ServerSettings)
)
"""What the settings are called in an editor's configuration: `inlayHints`."""


@dataclass(frozen=True)
class WorkspaceSettings:
    """The settings of an editor's window, and of those of its folders that have their own."""

    window: ServerSettings = field(default_factory=ServerSettings)
    folders: Mapping[str, ServerSettings] = field(default_factory=dict)
    """By the path of the folder."""

    def of(self, path: str) -> ServerSettings:
        """The settings of a file: those of the innermost folder that contains it."""
        around = [one for one in self.folders if PurePath(path).is_relative_to(one)]
        return self.folders[max(around, key=len)] if around else self.window


def read_settings(sent: object, known: Mapping[str, str]) -> tuple[ServerSettings, list[str]]:
    """What a client sent, and what to say of that which makes no sense; `known` are the rules.

    The settings may lie in an object of their own, `devicelint` or `settings`.
    """
    while isinstance(sent, Mapping):
        inner = next((sent[key] for key in ("devicelint", "settings") if key in sent), None)
        if inner is None:
            break
        sent = inner
    if sent is None:
        return ServerSettings(), []
    if not isinstance(sent, Mapping):
        return ServerSettings(), ["the settings of devicelint must be an object"]
    settings = ServerSettings()
    complaints: list[str] = []
    for key, value in sent.items():
        settings, complaint = _tried(settings, str(key), value, known)
        complaints += filter(None, [complaint])
    return settings, complaints


def _tried(
    settings: ServerSettings, key: str, value: object, known: Mapping[str, str]
) -> tuple[ServerSettings, str]:
    try:
        return _with(settings, key, value, known), ""
    except ValueError as error:
        return settings, f'setting "devicelint.{key}": {error}'


def _with(
    settings: ServerSettings, key: str, value: object, known: Mapping[str, str]
) -> ServerSettings:
    if key in _CLIENTS_OWN:
        return settings
    if key not in SETTINGS:
        raise ValueError(f"there is none of this name{hint(key, SETTINGS)}")
    if value is None:
        return settings
    name = fields(ServerSettings)[SETTINGS.index(key)].name
    read = _READERS.get(name, _flag)
    given = read(value)
    for selector in given if name in _SELECTORS and isinstance(given, tuple) else ():
        if complaint := unknown_selector(selector, known):
            raise ValueError(complaint)
    changed: dict[str, Any] = {name: given}
    return replace(settings, **changed)


_CLIENTS_OWN = frozenset({"path", "interpreter", "trace", "args"})
"""Settings of the extension that starts the server."""
_SELECTORS = frozenset({"select", "extend_select", "ignore"})


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("expected true or false")  # noqa: TRY004 - reported as any wrong value is
    return value


def _project_or_true(value: object) -> bool | None:
    return _flag(value) or None


def _words(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("expected a list of strings")
    return tuple(value) or None  # VS Code sends an empty list for a setting that nobody has set.


def _run(value: object) -> str:
    if value not in ("onType", "onSave"):
        raise ValueError('expected "onType" or "onSave"')
    return str(value)


def _certainty(value: object) -> Sureness:
    if value not in SURENESS:
        raise ValueError("expected " + " or ".join(f'"{one}"' for one in SURENESS))
    return cast(Sureness, value)


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        raise ValueError("expected a string")  # noqa: TRY004 - reported as any wrong value is
    return value or None


def _release(value: object) -> TorchRelease | None:
    text = _text(value)
    return None if text is None else torch_release(text)


_READERS: dict[str, Callable[[object], object]] = {
    "run": _run,
    "configuration": _text,
    "certainty": _certainty,
    "select": _words,
    "extend_select": _words,
    "ignore": _words,
    "unsafe_fixes": _project_or_true,
    "torch_version": _release,
}
