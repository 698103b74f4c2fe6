"""The mismatches of a recording: each place once, and no more than there is room for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runtime_guard.mismatch import Line, Mismatch

PLACES = ("failed_at", "entered_at", "launched_at")


class Mismatches:
    """What guards have found.

    Args:
        max_bytes: of text, for all of them together; what does not fit is left out.

    Attributes:
        contents: the mismatches as dictionaries.
    """

    def __init__(self, max_bytes: int) -> None:
        self.contents: list[dict[str, Any]] = []
        self._room = max_bytes
        self._places: set[tuple[object, ...]] = set()

    def add(self, mismatch: Mismatch) -> str:
        """Take one more; return its line, which is empty for what is known or does not fit."""
        place = (mismatch.module, mismatch.argument, mismatch.failed_at, mismatch.entered_at)
        if place in self._places:
            return ""
        content = _with_whole_paths(mismatch)
        line = _line(content)
        if len(line) > self._room:
            return ""
        self._room -= len(line)
        self._places.add(place)
        self.contents.append(content)
        return line

    def lines(self) -> str:
        """Return all of them as lines."""
        return "".join(f"{_line(content)}\n" for content in self.contents)


def _line(content: dict[str, Any]) -> str:
    return json.dumps({"type": "mismatch", **content})


def _with_whole_paths(mismatch: Mismatch) -> dict[str, Any]:
    """Name files as transfers do: messages shorten them, and the report is made elsewhere."""
    content = mismatch.to_dict()
    for key in PLACES:
        line: Line | None = getattr(mismatch, key)
        if line is not None and Path(line.file).is_file():
            content[key]["file"] = str(Path(line.file).absolute())
    return content
