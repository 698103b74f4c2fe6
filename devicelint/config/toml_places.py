"""Where the keys and values of a TOML text stand, which no reader of TOML says.

The text is one that a reader of TOML has accepted: what it refuses is no matter here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

Path = tuple[str | int, ...]
"""The way to a key or an item: names of tables and keys, numbers of items."""

_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.DOTALL
)
_BARE_KEY = re.compile(r"[\w-]+")
_BARE_VALUE = re.compile(r"[^,\]}\n#]*")
_QUOTES = re.compile("\"\"\"|'''|[\"']|")
_ERROR = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")


def toml_reader() -> Callable[[str], dict[str, object]]:
    """What reads TOML; few runs meet any, and none should pay for it before it does."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads


def places(text: str) -> dict[Path, int]:
    """The offset of each key and item, behind its opening quote where it has one."""
    return _Walk(text).run()


def complaint(message: str, text: str) -> tuple[str, int, int]:
    """What a reader of TOML has to say against a text, with line and column taken out of it."""
    found = _ERROR.search(message)
    problem = _ERROR.sub("", message)
    if found is None:
        return problem, 1, 0
    if found["line"] is None:
        last = text.split("\n")
        return problem, len(last), len(last[-1])
    return problem, int(found["line"]), int(found["column"]) - 1


class _Walk:
    """One walk over a text, from its begin to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._last = 0
        """Where the last part of a key stands."""
        self._places: dict[Path, int] = {}
        self._tables: dict[Path, int] = {}
        """The number of the last table of each array of tables."""

    def run(self) -> dict[Path, int]:
        """Read statement after statement."""
        table: Path = ()
        self._skip()
        while self._at < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)
            self._skip()
        return self._places

    def _header(self) -> Path:
        array = self._text.startswith("[[", self._at)
        brackets = 2 if array else 1
        self._at += brackets
        table = self._key((), across=True)
        self._skip()
        self._at += brackets
        if array:
            self._tables[table] = self._tables.get(table, -1) + 1
            table = (*table, self._tables[table])
            self._places[table] = self._last
        return table

    def _pair(self, table: Path) -> None:
        key = self._key(table)
        self._skip()
        self._at += len("=")
        self._value(key)

    def _key(self, table: Path, *, across: bool = False) -> Path:
        """Read a key with dots; one of a header goes through the last table of each array."""
        while True:
            self._skip()
            begin = self._at
            found = _STRING.match(self._text, begin) or _BARE_KEY.match(self._text, begin)
            written = found[0] if found else ""
            self._at += len(written)
            if across and table in self._tables:
                table = (*table, self._tables[table])
            table = (*table, _read(written))
            self._last = begin + (written[:1] in ("'", '"'))
            self._places.setdefault(table, self._last)
            self._skip()
            if not self._text.startswith(".", self._at):
                return table
            self._at += len(".")

    def _value(self, path: Path) -> None:
        self._skip()
        begin = self._at
        opening = self._text[begin : begin + 1]
        if opening == "[":
            self._items(path)
        elif opening == "{":
            self._inline_table(path)
        else:
            found = _STRING.match(self._text, begin) or _BARE_VALUE.match(self._text, begin)
            self._at = found.end() if found else begin + 1

    def _items(self, path: Path) -> None:
        number = 0
        while self._goes_on("]"):
            quotes = _QUOTES.match(self._text, self._at)
            item = (*path, number)
            self._places[item] = quotes.end() if quotes else self._at
            self._value(item)
            number += 1

    def _inline_table(self, path: Path) -> None:
        while self._goes_on("}"):
            self._pair(path)

    def _goes_on(self, closing: str) -> bool:
        """Step over an opening bracket or a comma; over the closing bracket where that follows."""
        self._skip()
        if self._text[self._at : self._at + 1] in ("[", "{", ","):
            self._at += 1
            self._skip()
        if self._at < len(self._text) and not self._text.startswith(closing, self._at):
            return True
        self._at += 1
        return False

    def _skip(self) -> None:
        gap = _GAP.match(self._text, self._at)
        self._at = gap.end() if gap else self._at


def _read(written: str) -> str:
    """What a key says, quoted or not."""
    if written[:1] not in ("'", '"'):
        return written
    return str(toml_reader()(f"key = {written}")["key"])
