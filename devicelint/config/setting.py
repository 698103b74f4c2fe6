"""How a setting is declared: a field of `Config` that says all there is to say about its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, TypeVar, overload

from devicelint.config.kinds import SettingKind

T = TypeVar("T")

_METADATA = "setting"


@dataclass(frozen=True)
class Setting:
    """One key of the configuration."""

    kind: SettingKind[Any]
    documentation: str
    """A sentence or two for `docs/configuration.md`."""
    default: object
    unset: str = ""
    """What holds where nobody says anything, in words, where the default does not show it."""
    adds: bool = False
    """Whether a list adds to that of the base instead of taking its place."""

    def plain(self, value: Any) -> Any:
        """A value as TOML and JSON have it; None where there is none."""
        return None if value is None else self.kind.plain(value)

    def merged(self, base: Any, own: Any) -> Any:
        """What holds in a file that says `own` and extends one that says `base`."""
        return (*base, *own) if self.adds else self.kind.merged(base, own)


@overload
def setting(
    kind: SettingKind[T], default: T, documentation: str, *, unset: str = "", adds: bool = False
) -> T: ...


@overload
def setting(kind: SettingKind[T], default: None, documentation: str, *, unset: str) -> T | None: ...


def setting(
    kind: SettingKind[Any], default: Any, documentation: str, *, unset: str = "", adds: bool = False
) -> Any:
    """Declare a field of `Config` as a setting; its key is its name, with hyphens."""
    declared = Setting(kind, documentation, default, unset, adds)
    return field(default=default, metadata={_METADATA: declared})


def settings_of(owner: type) -> Mapping[str, Setting]:
    """The settings that a dataclass declares, by their keys."""
    return {
        key_of(each): each.metadata[_METADATA]
        for each in fields(owner)
        if _METADATA in each.metadata
    }


def key_of(declared: Field[Any]) -> str:
    """The key of a field."""
    return declared.name.replace("_", "-")
