"""What a finding is known by, from one run to the next: not by its line, which moves."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import reduce

from devicelint.finding import Finding
from devicelint.linter.baseline import Key, key_of
from devicelint.linter.result import CheckResult
from devicelint.text.source import SourceFile

_HASHED = 100
"""How many characters from the start of a line GitHub knows it by."""
_BASE = 37
_WORD = 2**64
_END_OF_FILE = "\uffff"
_LINE_ENDS = re.compile(r"\r\n|\r")
_BLANKS = re.compile(r"[ \t]+")
_BEYOND_16_BITS = re.compile("[\U00010000-\U0010ffff]")


def fingerprints(checked: CheckResult, name: str) -> Iterator[tuple[Finding, str]]:
    """Yield each finding of a file with a name that no other one has.

    It hangs on the file, the rule, what the line says, and how many such there are before it.
    """
    met = Counter[Key]()
    for finding in checked.findings:
        key = key_of(finding, checked.source)
        identity = "\0".join((name, *key, str(met[key])))
        met[key] += 1
        yield finding, hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class HashedLines:
    """What GitHub knows the lines of a file by: `primaryLocationLineHash`.

    It is worked out by who uploads a report, too, and has to come out the same: a polynomial of
    the first hundred code units of UTF-16 from the start of the line, blanks left out, and the
    number of such lines so far.
    """

    def __init__(self, file: SourceFile) -> None:
        """Find where the lines start."""
        mark = "\ufeff" if file.encoding.mark else ""
        text = _BLANKS.sub("", _LINE_ENDS.sub("\n", mark + file.text))
        units = _BEYOND_16_BITS.sub(_halves, text) + _END_OF_FILE + "\0" * _HASHED
        starts = (0, *(end.end() for end in re.finditer("\n", units)))
        self._lines = [units[start : start + _HASHED] for start in starts]

    def hash_of(self, line: int) -> str:
        """Return what a line is known by; it counts from 1."""
        text = self._lines[line - 1]
        hashed = reduce(lambda total, unit: total * _BASE + ord(unit), text, 0) % _WORD
        return f"{hashed:x}:{self._lines[:line].count(text)}"


def _halves(character: re.Match[str]) -> str:
    """The two code units of UTF-16 that a character is made of, as characters."""
    data = character[0].encode("utf-16-be")
    return chr(int.from_bytes(data[:2], "big")) + chr(int.from_bytes(data[2:], "big"))
