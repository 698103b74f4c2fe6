"""The unified diff that `patch -p1` and `git apply` accept, byte for byte.

Of a notebook, whose JSON is not for reading, the differences of each cell are shown instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devicelint.text.source import SourceFile


def render(before: SourceFile, after: SourceFile) -> bytes:
    """Return what changed, in the encoding and with the line ends of the file; empty if nothing."""
    name = _name(before.path)
    if (old := before.cells()) is None or (new := after.cells()) is None:
        return _difference(name, before.to_bytes(), after.to_bytes())
    return b"".join(
        _difference(f"{name}:cell {number}", _whole(text), _whole(new[number]))
        for number, text in old.items()
        if text != new[number]
    )


def _whole(cell: str) -> bytes:
    """The lines of a cell, of which the last one has no end."""
    return f"{cell}\n".encode("utf-8", "replace")


def _difference(name: str, before: bytes, after: bytes) -> bytes:
    # A difference of bytes: line ends, byte order marks and form feeds must survive the patch.
    import difflib

    file = os.fsencode(name)
    # As git writes it: without a tab after it, patch takes a name to end at its first space.
    file += b"\t" * (b" " in file)
    old, new = _lines(before), _lines(after)
    lines = difflib.diff_bytes(difflib.unified_diff, old, new, b"a/" + file, b"b/" + file)
    return b"".join(_terminated(lines))


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds alone, as patch does."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def _terminated(lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"


def _name(path: str) -> str:
    """Name the file from the folder in which the patch will be applied: the current one."""
    relative = os.path.relpath(path)
    if relative.startswith(os.pardir):
        relative = str(Path(path).absolute().relative_to(Path(path).absolute().anchor))
    return relative.replace(os.sep, "/")
