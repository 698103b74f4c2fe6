"""The unified diff that `patch -p1` and `git apply` accept, byte for byte."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devicelint.source import SourceFile


def render(before: SourceFile, after: SourceFile) -> bytes:
    """Return what changed, in the encoding and with the line ends of the file; empty if nothing."""
    # A difference of bytes: line ends, byte order marks and form feeds must survive the patch.
    import difflib

    name = os.fsencode(_name(before.path))
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(before.to_bytes()),
        _lines(after.to_bytes()),
        b"a/" + name,
        b"b/" + name,
    )
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
    name = relative.replace(os.sep, "/")
    # As git writes it: without a tab after it, patch takes a name to end at its first space.
    return name + "\t" if " " in name else name
