"""Paths of files: a path that is made of others leads to where they lead."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import (
    Const,
    FileSource,
    HostValue,
    ImportedName,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import elements, function, items, library_call
from devicelint.interpreter.facts.file_sources import source_of
from devicelint.interpreter.python.containers.subscripts import key_of

ANYTHING = "*"
"""What stands in a text for what nobody knows."""


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
            return ANYTHING


def put_together(parts: Iterable[Value]) -> HostValue:
    """A text that is made of others: below a folder of the program lie files of the program."""
    held = tuple(parts)
    return _made(held, "".join(map(_text_of, held)))


def _made(parts: Iterable[Value], text: str) -> HostValue:
    """A text of which so much is spelled; of a long one, the last part of the path is enough."""
    held = tuple(parts)
    kept = text if len(text) <= _LONGEST else text.rpartition("/")[2]
    spelled = kept if kept.strip(ANYTHING) else None
    return HostValue(_common_source(held, text), spelled, given=_given(held))


_LONGEST = 120


def _given(parts: Iterable[Value]) -> frozenset[str]:
    """The settings of which some are, or into which some were put."""
    given: set[str] = set()
    for one in parts:
        if isinstance(one, Symbolic):
            given.add(one.origin)
        elif isinstance(one, HostValue):
            given |= one.given
    return frozenset(given)


def _common_source(parts: Iterable[Value], text: str = "") -> FileSource | None:
    """What is put below a folder of the program, or behind a URL, may be anybody's choice.

    So may be what lies in a folder that the code itself names.
    """
    found = [one for one in map(source_of, parts) if one is not None]
    said = [one for one in found if one is not FileSource.CHOSEN]
    if said or _is_in_own_folder(text):
        return next(iter(said), None)
    return next(iter(found), None)


def _is_in_own_folder(text: str) -> bool:
    """Whether the code spells the folder that a path begins with."""
    spelled = text.partition(ANYTHING)[0].rpartition("/")[0]
    return bool(spelled.strip("./"))


def _spelled(text: str) -> str | None:
    last = text.rpartition("/")[2]
    return last if last.strip(ANYTHING) else None


def made_of(parts: Iterable[Value]) -> HostValue:
    """A text that is made of others, nobody knows how."""
    held = tuple(parts)
    return HostValue(_common_source(held), given=_given(held))


def joined(parts: Iterable[Value]) -> HostValue:
    """`os.path.join(folder, name)`: what is called like the last part."""
    held = tuple(parts)
    return _made(held, "/".join(map(_text_of, held)))


def formatted(template: Value, given: Iterable[Value]) -> HostValue:
    """`"{}.pt".format(epoch)`."""
    text = _text_of(template)
    try:
        parts = [(word, field) for word, field, *_ in Formatter().parse(text)]
    except ValueError:
        parts = [(text, None)]
    filled = "".join(word if field is None else word + ANYTHING for word, field in parts)
    return _made((template, *given), filled)


def interpolated(template: Value, given: Iterable[Value]) -> HostValue:
    """`"%d.pt" % epoch`."""
    return _made((template, *given), _converted(_text_of(template)))


def _converted(template: str) -> str:
    """A text with `*` in place of `%d`, `%s` and `%03d`."""
    first, *rest = template.split("%")
    return first + "".join(ANYTHING + one.lstrip(_FLAGS)[1:] for one in rest)


_FLAGS = "-#0123456789 +.*"


@function(
    *(f"os.path.{name}" for name in "join abspath expanduser normpath realpath".split()),
    *(f"pathlib.{name}" for name in "Path PurePath PosixPath".split()),
    "os.fspath",
)
def path_of(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return joined(argument.value for argument in arguments)


@items(ImportedName)
def _item_of_imported(run: Run, value: ImportedName, node: cst.Subscript) -> Value:
    """`sys.argv[1]`, of which a slice is like the whole."""
    key_of(run, node)
    return Unknown(f"an item of {value.name}", source=source_of(value))


@elements(ImportedName)
def _element_of_imported(run: Run, value: ImportedName, site: Site) -> Value:
    return Unknown(f"an element of {value.name}", source=source_of(value))


@function("os.path.dirname")
def folder_of(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return made_of(argument.value for argument in arguments)


@library_call("Download")
def download(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """The path of a file that somebody has published."""
    return HostValue(FileSource.PUBLISHED)
