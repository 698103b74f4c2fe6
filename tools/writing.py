"""The words that docs/writing.md advises against, and where a text uses the banned ones."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tools.doc_tables import Table, markdown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = Path(__file__).with_suffix(".toml")
PAGE = Path("docs/writing.md")

_CODE = re.compile(r"^([ ]*)(`{3,})[^\n]*\n.*?^\1\2[ ]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SPAN = re.compile(r"(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")


@dataclass(frozen=True)
class Word:
    """What not to write, and what to write instead."""

    avoid: str
    use: str
    banned: re.Pattern[str] | None
    found: Sequence[str]
    fine: Sequence[str]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Word:
        """Read an entry of the data."""
        pattern = entry.get("banned")
        banned = pattern and re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)
        found, fine = entry.get("found", ()), entry.get("fine", ())
        return cls(entry["avoid"], entry["use"], banned or None, tuple(found), tuple(fine))


@dataclass(frozen=True)
class Use:
    """A place where a text uses a banned word."""

    line: int
    text: str
    instead: str

    def __str__(self) -> str:
        """The place, and what to write there."""
        return f'{self.line}: "{self.text}": use {self.instead}'


@lru_cache(maxsize=1)
def words() -> tuple[Word, ...]:
    """Read the data."""
    entries = tomllib.loads(DATA.read_text(encoding="utf-8"))["word"]
    return tuple(map(Word.of, entries))


def uses(text: str) -> Iterator[Use]:
    """Yield each use of a banned word in the prose of a Markdown text; code is left out."""
    prose = text
    for code in (_CODE, _COMMENT, _SPAN, _TARGET):
        prose = code.sub(_blank, prose)
    for word in words():
        for match in word.banned.finditer(prose) if word.banned else ():
            line = prose.count("\n", 0, match.start()) + 1
            yield Use(line, " ".join(match[0].split()), word.use)


def _blank(match: re.Match[str]) -> str:
    """Keep the lines, and a character that is neither a letter nor the end of a sentence."""
    return "¤" + "\n" * match[0].count("\n")


def table() -> str:
    """Return the Markdown table of the words."""
    rows = ((each.use, each.avoid, "yes" if each.banned else "") for each in words())
    return markdown(("Use", "Not", "Checked"), rows)


TABLES = (Table(PAGE, "words", table),)
