"""Paths of files: a path that is made of others leads to where they lead."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devicelint.domain.values import HOST, Const, FileSource, HostValue, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function, library_call

_DOWNLOADED = ("http://", "https://", "hf://", "gs://", "s3://")


def source_of(value: Value) -> FileSource | None:
    """Where the file comes from that a value names, where that is known."""
    match value:
        case HostValue(source):
            return source
        case Const(str() as text) if text.startswith(_DOWNLOADED):
            return FileSource.PUBLISHED
        case _:
            return None


def put_together(parts: Iterable[Value]) -> HostValue:
    """A text that is made of others: below a folder of the program lie files of the program."""
    sources = map(source_of, parts)
    found = next((one for one in sources if one is not None), None)
    return HOST if found is None else HostValue(found)


@function(
    *(f"os.path.{name}" for name in "join abspath dirname expanduser normpath realpath".split()),
    *(f"pathlib.{name}" for name in "Path PurePath PosixPath".split()),
    "os.fspath",
)
def path_of(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return put_together(argument.value for argument in arguments)


@library_call("Download")
def download(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """The path of a file that somebody has published."""
    return HostValue(FileSource.PUBLISHED)
