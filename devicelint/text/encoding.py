"""The text of Python source, as PEP 263 has it: a declaration, a byte order mark, or UTF-8."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from devicelint.finding import InputError

_DECLARATION = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NOTHING_BUT_A_COMMENT = re.compile(rb"[ \t\f]*(?:#|\Z)")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_DECORATED = {
    "utf-8": "utf-8",
    "latin-1": "iso-8859-1",
    "iso-8859-1": "iso-8859-1",
    "iso-latin-1": "iso-8859-1",
}
_FOREIGN_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)

# What Python reads before it knows the encoding.  The backslash comes last, where a codec that
# takes it for an escape finds nothing to escape, and fails.
_PROBE = bytes(set(range(0x20, 0x7F)) - {0x5C}) + b"\t\n\f\r\\"
_FOR_NAMES_OF_HOSTS = ("idna", "punycode")


class SourceError(InputError):
    """Bytes that are not the text of a Python file."""


@dataclass(frozen=True)
class Encoding:
    """How the text of a file is written in bytes."""

    name: str = "utf-8"
    mark: bool = False
    """Whether the UTF-8 byte order mark comes first."""

    def encode(self, text: str) -> bytes:
        """The bytes of `text`; raises UnicodeEncodeError for what cannot be said."""
        return (codecs.BOM_UTF8 if self.mark else b"") + text.encode(self.name)

    def gives_back(self, text: str, data: bytes) -> bool:
        """Whether `text` is written as `data`: some encodings have several ways."""
        try:
            return self.encode(text) == data
        except UnicodeEncodeError:
            return False


@dataclass(frozen=True)
class _Declaration:
    """The encoding that a comment on `line` asks for, at `column`."""

    line: int
    column: int
    name: str


def decode(data: bytes, path: str) -> tuple[str, Encoding]:
    """The text of `data`, without byte order mark and with its own line ends.

    Raises SourceError where `data` is binary, or not in the encoding that holds for it.
    """
    _refuse_what_is_not_text(data, path)
    mark = data.startswith(codecs.BOM_UTF8)
    content = data[len(codecs.BOM_UTF8) :] if mark else data
    declaration = _declaration(content)
    name = "utf-8" if declaration is None else _codec(declaration, path)
    if declaration is not None and mark and name != "utf-8":
        raise _at(
            declaration,
            path,
            f"declares the encoding {declaration.name}, but the file starts with the byte order"
            " mark of UTF-8",
        )
    try:
        return content.decode(name), Encoding(name, mark)
    except UnicodeError as error:
        raise _undecodable(content, error, declaration, path) from None


def decode_utf8(data: bytes, path: str) -> tuple[str, bool]:
    """The text of a file that can only be UTF-8, and whether a byte order mark comes first.

    Raises SourceError where it is none.
    """
    _refuse_what_is_not_text(data, path)
    mark = data.startswith(codecs.BOM_UTF8)
    content = data[len(codecs.BOM_UTF8) :] if mark else data
    try:
        return content.decode("utf-8"), mark
    except UnicodeDecodeError as error:
        before = _LINE_END.split(content[: error.start])
        column = len(before[-1].decode("utf-8", errors="replace"))
        message = f"is not UTF-8 (byte 0x{content[error.start]:02x})"
        raise SourceError(path, len(before), column, message) from None


def _refuse_what_is_not_text(data: bytes, path: str) -> None:
    for mark, name in _FOREIGN_MARKS:
        if data.startswith(mark):
            raise SourceError(path, 1, 0, f"is encoded in {name}, which Python does not read")
    if b"\0" in data:
        raise SourceError(path, 1, 0, "is a binary file")


def _declaration(content: bytes) -> _Declaration | None:
    """The declaration on the first line, or on the second where the first is only a comment."""
    for number, line in enumerate(_LINE_END.split(content, maxsplit=2)[:2], start=1):
        if declared := _DECLARATION.match(line):
            return _Declaration(number, declared.start(1), declared[1].decode("ascii"))
        if not _NOTHING_BUT_A_COMMENT.match(line):
            break
    return None


def _codec(declaration: _Declaration, path: str) -> str:
    """The name by which Python knows the declared encoding."""
    name = _normal_name(declaration.name)
    try:
        canonical = codecs.lookup(name).name
        is_ascii_superset = _PROBE.decode(name) == _PROBE.decode("ascii")
        is_ascii_superset = is_ascii_superset and canonical not in _FOR_NAMES_OF_HOSTS
    except LookupError:
        raise _at(declaration, path, f"unknown encoding: {declaration.name}") from None
    except UnicodeError:
        is_ascii_superset = False
    if not is_ascii_superset:
        raise _at(
            declaration,
            path,
            f"the encoding {declaration.name} cannot be declared: it does not write ASCII as ASCII",
        )
    return canonical


def _normal_name(name: str) -> str:
    """Names that editors decorate (`utf-8-unix`), as Python's own tokenizer reads them."""
    plain = name.lower().replace("_", "-")
    for prefix, known in _DECORATED.items():
        if f"{plain}-".startswith(f"{prefix}-"):
            return known
    return name


def _undecodable(
    content: bytes, error: UnicodeError, declaration: _Declaration | None, path: str
) -> SourceError:
    start = error.start if isinstance(error, UnicodeDecodeError) else 0
    before = _LINE_END.split(content[:start])
    encoding = "utf-8" if declaration is None else declaration.name
    column = len(before[-1].decode(_normal_name(encoding), errors="replace"))
    culprit = f"byte 0x{content[start]:02x}"
    if declaration is None:
        message = f"is not UTF-8 ({culprit}), and declares no other encoding"
    else:
        message = f"is not in its declared encoding {declaration.name} ({culprit})"
    return SourceError(path, len(before), column, message)


def _at(declaration: _Declaration, path: str, message: str) -> SourceError:
    return SourceError(path, declaration.line, declaration.column, message)
