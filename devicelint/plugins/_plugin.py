"""What a plug-in is, and how one that is none is reported."""

from __future__ import annotations

from dataclasses import dataclass

from devicelint.finding import InputError
from devicelint.rules import Rule


@dataclass(frozen=True)
class InstalledPlugin:
    """What one entry point names."""

    name: str
    distribution: str
    """With its version."""
    rules: tuple[type[Rule], ...] = ()

    def __str__(self) -> str:
        return f'plug-in "{self.name}" ({self.distribution})'


class PluginError(InputError):
    """A plug-in that cannot be used, reported in one line."""

    def __init__(self, plugin: str, message: str) -> None:
        super().__init__(plugin, 1, 0, message)

    def __reduce__(self) -> tuple[type[PluginError], tuple[str, str]]:
        return PluginError, (self.path, self.message)

    def __str__(self) -> str:
        return " ".join(f"{self.path}: {self.message}".split())
