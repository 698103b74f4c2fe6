"""What measures is named, and is what the hash of its name says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.halves import half_of, known_repositories

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MEASURING = Path("benchmarks/measuring.toml")


@pytest.mark.parametrize("judge", ["corpora", "histories"])
def test_what_measures_is_of_the_measuring_half(judge: str) -> None:
    named = tomllib.loads(MEASURING.read_text(encoding="utf-8"))[judge]["repositories"]
    assert named == sorted(set(named), key=str.lower)
    assert [each for each in named if half_of(each) != "measure"] == []


def test_what_devicelint_was_made_with_measures_nothing() -> None:
    assert {half_of(each) for each in known_repositories()} == {"learn"}


def test_a_repository_is_of_one_half_however_it_is_written() -> None:
    names = [f"owner/name{number}" for number in range(200)]
    assert [half_of(each) for each in names] == [half_of(each.upper()) for each in names]
    assert 70 < [half_of(each) for each in names].count("measure") < 130


NAMED_BY = {
    *("benchmarks/measuring.toml", "benchmarks/corpora/subjects.toml"),
    "benchmarks/histories/cases.jsonl",
}
"""What runs them, or says where their fixes are."""


def test_nothing_else_names_what_measures() -> None:
    table = tomllib.loads(MEASURING.read_text(encoding="utf-8"))
    named = [each for judge in ("corpora", "histories") for each in table[judge]["repositories"]]
    texts = {path: path.read_bytes() for path in _texts() if path.as_posix() not in NAMED_BY}
    naming = [
        (path.as_posix(), name)
        for path, text in texts.items()
        for name in named
        if name.encode() in text
    ]
    assert naming == []


def _texts() -> Iterator[Path]:
    for folder in ("devicelint", "runtime_guard", "docs", "examples", "tests", "benchmarks"):
        for kind in ("*.py", "*.pyi", "*.md", "*.toml", "*.json", "*.jsonl", "*.txt"):
            yield from Path(folder).rglob(kind)
