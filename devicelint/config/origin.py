"""Where a setting comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from devicelint.config.document import SettingsDocument
from devicelint.config.toml_places import Path
from devicelint.finding import Location


@dataclass(frozen=True)
class FileOrigin:
    """A place in a file."""

    document: SettingsDocument
    way: Path
    """From the table of the settings."""

    @property
    def file(self) -> str:
        """The path of the file."""
        return str(self.document.path)

    @property
    def location(self) -> Location:
        """The place in the file."""
        return self.document.location(self.way)


@dataclass(frozen=True)
class OptionOrigin:
    """An option of the command line."""

    name: str


Origin = FileOrigin | OptionOrigin

Origins = Mapping[tuple[str, ...], Origin]
"""By key, and by key and item, or key and entry; what is not there is so by default."""
