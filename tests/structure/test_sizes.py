"""A newcomer finds the room: few files at the top, few in a folder, none of them long."""

from __future__ import annotations

from collections import Counter

from tests.structure.sources import PACKAGES, ROOT, modules

MOST_AT_THE_TOP = 8
MOST_IN_A_FOLDER = 30
LONGEST = 300


def files_of(folder: str) -> Counter[str]:
    """How many files lie directly in each folder."""
    found = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    kept = (path for path in found if "__pycache__" not in path.parts)
    return Counter(path.parent.relative_to(ROOT).as_posix() for path in kept)


def test_few_files_lie_at_the_top():
    assert files_of("devicelint")["devicelint"] <= MOST_AT_THE_TOP


def test_few_files_lie_in_a_folder():
    folders = Counter[str]()
    for package in PACKAGES:
        folders += files_of(package)
    full = {folder for folder, count in folders.items() if count > MOST_IN_A_FOLDER}
    assert full == {"devicelint/rules"}


def test_no_file_is_long():
    found = {
        one.place
        for package in PACKAGES
        for one in modules(package).values()
        if len(one.text.splitlines()) > LONGEST
    }
    assert not found
