"""What a finding is known by, from one run to the next: not by its line, which moves."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

from devicelint.baseline import Key, key_of
from devicelint.checked import Checked
from devicelint.finding import Finding
from devicelint.source import SourceFile

_HASHED = 100
"""How many characters from the start of a line GitHub knows it by."""
_BASE = 37
_WORD = 2**64
_END_OF_FILE = 0xFFFF


def fingerprints(checked: Checked, name: str) -> Iterator[tuple[Finding, str]]:
    """Yield each finding of a file with a name that no other one has.

    It hangs on the file, the rule, what the line says, and how many such there are before it.
    """
    met = Counter[Key]()
    for finding in checked.findings:
        key = key_of(finding, checked.source)
        told = "\0".join((name, *key, str(met[key])))
        met[key] += 1
        yield finding, hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def line_hashes(file: SourceFile) -> dict[int, str]:
    """Return what GitHub knows each line of a file by: `primaryLocationLineHash`.

    It is worked out by who uploads a report, too, and has to come out the same: a polynomial of
    the first hundred code units of UTF-16 from the start of the line, blanks left out, and the
    number of such lines so far.
    """
    mark = "\ufeff" if file.encoding.mark else ""
    units, starts = _units(mark + file.text)
    units += [0] * _HASHED
    sums = [0]
    for unit in units:
        sums.append((sums[-1] * _BASE + unit) % _WORD)
    shift = pow(_BASE, _HASHED, _WORD)
    met = Counter[str]()
    hashes = {}
    for line, start in enumerate(starts, start=1):
        told = f"{(sums[start + _HASHED] - sums[start] * shift) % _WORD:x}"
        met[told] += 1
        hashes[line] = f"{told}:{met[told]}"
    return hashes


def _units(text: str) -> tuple[list[int], list[int]]:
    """The code units that count, up to the end of the file, and where each line starts in them."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace(" ", "").replace("\t", "")
    data = plain.encode("utf-16-le", "surrogatepass")
    units = [low + 256 * high for low, high in zip(data[::2], data[1::2], strict=True)]
    units.append(_END_OF_FILE)
    starts = [0, *(index + 1 for index, unit in enumerate(units) if unit == ord("\n"))]
    return units, starts
