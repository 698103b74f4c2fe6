"""The recorded files, as they are on disk when the report is made."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 1_000_000
"""No file that anyone wrote by hand is larger."""


@dataclass(frozen=True, slots=True)
class SourceLines:
    """The lines of a file; none where it is gone, or is not Python.

    Attributes:
        modified: when it was last written, in seconds since 1970.
    """

    lines: tuple[str, ...]
    modified: float = 0.0

    def text(self, line: int) -> str:
        """Line number `line`, empty where there is none."""
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""


def read_source(file: str) -> SourceLines:
    """Read a file that a recording names; whatever else it may name is left alone."""
    path = Path(file)
    try:
        if path.suffix not in {".py", ".pyw"} or not path.is_file():
            return SourceLines(())
        facts = path.stat()
        if facts.st_size > MOST_BYTES:
            return SourceLines(())
        return SourceLines(tuple(_decoded(path.read_bytes()).splitlines()), facts.st_mtime)
    except (OSError, SyntaxError, ValueError):
        return SourceLines(())


def _decoded(data: bytes) -> str:
    """Lines end as Python has them end: `splitlines` knows form feeds and others besides."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = data.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    return text.translate(_BLANK).expandtabs(4)


_BLANK = {
    code: " " for code in (*range(0x20), 0x7F, 0x85, 0x2028, 0x2029) if chr(code) not in "\n\t"
}
