"""Garbage is looked for where there may be much of it, and not while a few files are checked."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from devicelint.cli.run import garbage
from devicelint.cli.run.garbage import Collecting


class Knot:
    """Something that only the collector frees."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture
def collecting() -> Iterator[Collecting]:
    gc.collect()
    begun = Collecting()
    yield begun
    begun.end()
    gc.unfreeze()


def test_little_is_left_where_it_is(collecting: Collecting) -> None:
    Knot()
    collecting.after_one()
    assert any(type(one) is Knot for one in gc.get_objects())


def test_much_is_collected(collecting: Collecting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_MANY_OBJECTS", 100)
    for _ in range(200):
        Knot()
    collecting.after_one()
    assert not any(type(one) is Knot for one in gc.get_objects())
