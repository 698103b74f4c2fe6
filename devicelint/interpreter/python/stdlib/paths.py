"""Paths of files: a path that is made of others leads to where they lead."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter

import libcst as cst

from devicelint.domain.values import Const, FileSource, HostValue, Symbolic, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function, library_call

_DOWNLOADED = ("http://", "https://", "hf://", "gs://", "s3://")
_ANYTHING = "*"


def source_of(value: Value) -> FileSource | None:
    """Where the file comes from that a value names, where that is known."""
    match value:
        case HostValue(source):
            return source
        case Symbolic():
            return FileSource.CHOSEN
        case Const(str() as text) if text.startswith(_DOWNLOADED):
            return FileSource.PUBLISHED
        case _:
            return None


def name_of(value: Value) -> str | None:
    """The last part of a path, as far as the code spells it: `*` stands for what nobody knows."""
    return _spelled(_text_of(value))


def _text_of(value: Value) -> str:
    match value:
        case Const(str() as text):
            return text
        case HostValue(name=str() as name):
            return name
        case _:
            return _ANYTHING


def put_together(parts: Iterable[Value]) -> HostValue:
    """A text that is made of others: below a folder of the program lie files of the program."""
    held = tuple(parts)
    return HostValue(_common_source(held), _spelled("".join(map(_text_of, held))))


def _common_source(parts: Iterable[Value]) -> FileSource | None:
    """What is put below a folder of the program, or behind a URL, may be anybody's choice."""
    found = [one for one in map(source_of, parts) if one is not None]
    said = [one for one in found if one is not FileSource.CHOSEN]
    return next(iter((*said, *found)), None)


def _spelled(text: str) -> str | None:
    last = text.rpartition("/")[2]
    return last if last.strip(_ANYTHING) else None


def made_of(parts: Iterable[Value]) -> HostValue:
    """A text that is made of others, nobody knows how."""
    return HostValue(_common_source(parts))


def joined(parts: Iterable[Value]) -> HostValue:
    """`os.path.join(folder, name)`: what is called like the last part."""
    held = tuple(parts)
    return HostValue(_common_source(held), name_of(held[-1]) if held else None)


def formatted(template: Value, given: Iterable[Value]) -> HostValue:
    """`"{}.pt".format(epoch)`."""
    text = _text_of(template)
    try:
        parts = [(word, field) for word, field, *_ in Formatter().parse(text)]
    except ValueError:
        parts = [(text, None)]
    filled = "".join(word if field is None else word + _ANYTHING for word, field in parts)
    return HostValue(_common_source((template, *given)), _spelled(filled))


def interpolated(template: Value, given: Iterable[Value]) -> HostValue:
    """`"%d.pt" % epoch`."""
    text = _converted(_text_of(template))
    return HostValue(_common_source((template, *given)), _spelled(text))


def _converted(template: str) -> str:
    """A text with `*` in place of `%d`, `%s` and `%03d`."""
    first, *rest = template.split("%")
    return first + "".join(_ANYTHING + one.lstrip(_FLAGS)[1:] for one in rest)


_FLAGS = "-#0123456789 +.*"


@function(
    *(f"os.path.{name}" for name in "join abspath expanduser normpath realpath".split()),
    *(f"pathlib.{name}" for name in "Path PurePath PosixPath".split()),
    "os.fspath",
)
def path_of(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return joined(argument.value for argument in arguments)


@function("os.path.dirname")
def folder_of(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return made_of(argument.value for argument in arguments)


@library_call("Download")
def download(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """The path of a file that somebody has published."""
    return HostValue(FileSource.PUBLISHED)
