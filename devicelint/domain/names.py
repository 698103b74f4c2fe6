"""The full names of what is imported, and of what files define."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class FullName:
    """`mypkg.data.loader`, as its parts; of a file of the project, with the folders above it."""

    parts: tuple[str, ...]
    is_of_a_file: bool = False

    def among(self, table: Mapping[str, Entry]) -> Entry | None:
        """What a table has under this name."""
        key = self.key_in(table)
        return None if key is None else table[key]

    def key_in(self, table: Mapping[str, object]) -> str | None:
        """How a table calls this.

        What lies in a file is called by as many of its folders as whoever names it likes.
        """
        whole = ".".join(self.parts)
        if not self.is_of_a_file:
            return whole if whole in table else None
        return next((one for one in table if "." in one and f".{whole}".endswith(f".{one}")), None)

    def __truediv__(self, name: str) -> FullName:
        """The name of something in this."""
        return FullName((*self.parts, name), self.is_of_a_file)
