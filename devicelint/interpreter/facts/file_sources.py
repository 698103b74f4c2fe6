"""Where the file comes from that a value names, should it be a path."""

from __future__ import annotations

from devicelint.domain.values import (
    Const,
    FileSource,
    HostValue,
    ImportedName,
    Symbolic,
    Unknown,
    Value,
)

_DOWNLOADED = ("http://", "https://", "hf://", "gs://", "s3://")
_CHOSEN = ("sys.argv", "os.environ")
_OPTIONS = "absl.flags.FLAGS."
"""How the options of a program begin that leaves its command line to absl."""


def source_of(value: Value) -> FileSource | None:
    """Where the file comes from that a value names, where that is known."""
    match value:
        case HostValue() | Unknown():
            return value.source
        case ImportedName(name) if name in _CHOSEN or name.startswith(_OPTIONS):
            return FileSource.CHOSEN
        case Symbolic():
            return FileSource.CHOSEN
        case Const(str() as text) if text.startswith(_DOWNLOADED):
            return FileSource.PUBLISHED
        case _:
            return None
