"""Baselines: files of existing findings, which are hidden so that new ones stand out.

An entry is a file, a rule, what the line says on which the finding begins, and how many there are
of these: a line that moves stays known, and one that changes does not.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from devicelint.finding import REVEALED, Finding, InputError
from devicelint.linter.result import CheckResult
from devicelint.text.source import SourceFile

FORMAT = "devicelint-baseline"
"""The key that marks JSON as a baseline; its value is the version of the format."""
VERSION = 1
NOT_OLD = frozenset({REVEALED})
"""What is asked for anew in each run."""


class BaselineError(InputError):
    """A baseline that cannot be read."""


class BrokenBaselineError(BaselineError):
    """A baseline that is no JSON any more, as a merge leaves it."""


class Key(NamedTuple):
    """What the findings of one entry have in common, within a file."""

    code: str
    line: str
    """A hash of what the line says; how it is indented does not matter."""


def key_of(finding: Finding, source: SourceFile) -> Key:
    """The entry to which a finding belongs."""
    text = source.line_text(source.position(finding.span.start).line)
    said = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return Key(finding.code, hashlib.sha256(said).hexdigest()[:16])


def count(findings: Iterable[Finding], source: SourceFile) -> Counter[Key]:
    """The entries that the findings of a file are worth."""
    return Counter(key_of(each, source) for each in findings if each.code not in NOT_OLD)


class Filtered(NamedTuple):
    """The findings of a file, and what its entries say of them."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    stale: Counter[Key]
    """What the entries count and the file has no more."""


@dataclass(frozen=True)
class Baseline:
    """The entries of each file, by its path as seen from the folder of the baseline."""

    path: Path
    files: Mapping[str, Counter[Key]] = field(default_factory=dict)

    def name_of(self, path: str | Path) -> str:
        """What a file is called in the baseline."""
        folder = os.path.dirname(os.path.abspath(self.path))  # noqa: PTH120 - as the path beside it
        absolute = os.path.abspath(path)
        try:
            name = os.path.relpath(absolute, folder)
        except ValueError:  # On another drive, there is no way from here to there.
            name = absolute
        return unicodedata.normalize("NFC", Path(name).as_posix())

    def place_of(self, name: str) -> Path:
        """Where the file lies that is called so."""
        return self.path.parent / name

    def filter_known(self, findings: Iterable[Finding], source: SourceFile) -> Filtered:
        """Split the findings into known and new ones, in the order of the text."""
        return filter_known(findings, source, self.files.get(self.name_of(source.path), Counter()))

    def to_text(self) -> str:
        """The file: an entry on a line each, in an order of their own, for whoever merges it."""
        files = ",\n".join(
            f"    {_written(name)}: [\n{_entries(entries)}\n    ]"
            for name, entries in sorted(self.files.items())
            if entries
        )
        inner = f"\n{files}\n  " if files else ""
        return f'{{\n  "{FORMAT}": {VERSION},\n  "files": {{{inner}}}\n}}\n'


def filter_known(
    findings: Iterable[Finding], source: SourceFile, entries: Mapping[Key, int]
) -> Filtered:
    """Split the findings into new ones and those that entries stand for, each entry once."""
    left = Counter(entries)
    new, known = [], []
    for finding in findings:
        key = key_of(finding, source)
        if left[key] > 0 and finding.code not in NOT_OLD:
            left[key] -= 1
            known.append(finding)
        else:
            new.append(finding)
    return Filtered(tuple(new), tuple(known), +left)


def _written(name: str) -> str:
    """A name as JSON has it; one that no encoding can express is written in escapes."""
    return json.dumps(name, ensure_ascii=not name.isprintable())


def _entries(entries: Counter[Key]) -> str:
    return ",\n".join(
        "      " + json.dumps({"code": key.code, "line": key.line, "count": number})
        for key, number in sorted(entries.items())
    )


def read_baseline(path: Path) -> Baseline:
    """Read a baseline; raises BaselineError for what is none."""
    text = _read(path)
    try:
        content = json.loads(text)
    except RecursionError:
        raise _error(path, "is no baseline: its JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        message = f"is no baseline: its JSON is broken: {error.msg}{_if_merged(text)}"
        raise BrokenBaselineError(str(path), error.lineno, error.colno - 1, message) from None
    except ValueError as error:  # A number of too many digits.
        raise _error(path, f"is no baseline: its JSON is broken: {error}") from None
    if not isinstance(content, dict) or FORMAT not in content:
        raise _error(path, f'is no baseline of devicelint: it has no "{FORMAT}"')
    if content[FORMAT] != VERSION:
        version = json.dumps(content[FORMAT])
        raise _error(path, f"is a baseline of version {version}; this devicelint reads {VERSION}")
    return Baseline(path, dict(_files(path, text, content.get("files"))))


def without_known(checked: CheckResult, path: Path | None) -> CheckResult:
    """What is new in a file, where a baseline may know the rest; raises BaselineError."""
    if path is None or not checked.findings:
        return checked
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        changed = 0
    filtered = _read_once(path, changed).filter_known(checked.findings, checked.source)
    return replace(checked, findings=filtered.new)


@lru_cache(maxsize=8)
def _read_once(path: Path, _changed: int) -> Baseline:
    return read_baseline(path)


def baseline_to_overwrite(path: Path) -> Baseline:
    """The entries of a file that is to be written: none, if it is new, or broken by a merge.

    Raises BaselineError for anything else that is no baseline, or one of another version.
    """
    if not path.exists() or not (text := _read(path)).strip():
        return Baseline(path)
    try:
        return read_baseline(path)
    except BrokenBaselineError:
        if f'"{FORMAT}"' in text:
            return Baseline(path)
        raise


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        message = f"there is no such baseline; --write-baseline {path} makes it"
        raise _error(path, message) from None
    except OSError as error:
        raise _error(path, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise _error(path, "is no baseline: it is not UTF-8") from None


def _files(path: Path, text: str, files: object) -> Iterable[tuple[str, Counter[Key]]]:
    if not isinstance(files, dict):
        raise _error(path, 'is no baseline: "files" must be an object')
    for name, entries in files.items():
        if not isinstance(entries, list):
            raise _wrong(path, text, name, "must be a list")
        read: Counter[Key] = Counter()
        for entry in entries:
            key, number = _entry(entry) or (None, 0)
            if key is None:
                wanted = 'must be like {"code": "DEV101", "line": "0123456789abcdef", "count": 1}'
                raise _wrong(path, text, name, f"an entry {wanted}")
            read[key] += number
        yield unicodedata.normalize("NFC", name), read


def _entry(entry: object) -> tuple[Key, int] | None:
    match entry:
        case {"code": str(code), "line": str(line), "count": int(number)} if (
            number > 0 and number is not True
        ):
            return Key(code, line), number
    return None


def _wrong(path: Path, text: str, name: str, message: str) -> BaselineError:
    """What is wrong about the entries of a file, with the place of its name."""
    before = text.partition(_written(name))[0]
    lines = before.split("\n")
    return BaselineError(str(path), len(lines), len(lines[-1]), f'"{name}": {message}')


def _if_merged(text: str) -> str:
    return "; after a merge, --write-baseline writes it anew" if "\n<<<<<<<" in f"\n{text}" else ""


def _error(path: Path, message: str) -> BaselineError:
    return BaselineError(str(path), 1, 0, message)
