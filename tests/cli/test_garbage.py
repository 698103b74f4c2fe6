"""Garbage is looked for where there may be much of it, and not while a few files are checked."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devicelint.interpreter.engine.run import Run
from devicelint.linter import garbage, lint
from devicelint.linter.garbage import Collecting, Pausing
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project


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
    monkeypatch.setattr(garbage, "MANY_OBJECTS", 100)
    for _ in range(200):
        Knot()
    collecting.after_one()
    assert not any(type(one) is Knot for one in gc.get_objects())


@pytest.fixture
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("_thawed")
@pytest.mark.parametrize("is_on", [True, False])
def test_a_pause_leaves_the_collector_as_it_was(is_on: bool) -> None:
    def check() -> None:
        with Pausing()():
            assert not gc.isenabled()
            raise ValueError("broken")

    (gc.enable if is_on else gc.disable)()
    try:
        with pytest.raises(ValueError, match="broken"):
            check()
        assert gc.isenabled() is is_on
    finally:
        gc.enable()


@pytest.mark.usefixtures("_thawed")
def test_what_a_file_leaves_is_not_walked_by_others() -> None:
    before = gc.get_freeze_count()
    with Pausing()():
        kept: list[list[int]] = [[] for _ in range(1_000)]
    assert gc.get_freeze_count() >= before + len(kept)


@pytest.mark.usefixtures("_thawed")
@pytest.mark.parametrize("many", [100, 30])
def test_much_that_nobody_needs_is_collected_all_the_same(
    monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(garbage, "MANY_OBJECTS", many)
    pausing = Pausing()
    for _ in range(30):
        with pausing():
            for _ in range(60):
                Knot()
    gc.unfreeze()
    assert sum(type(one) is Knot for one in gc.get_objects()) < 1_200


def test_a_check_leaves_no_walk_for_the_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text("import torch\ndef make():\n    return torch.zeros(3)\n")
    script = Path("train.py")
    script.write_text("import torch\nfrom net import make\nmake() + torch.ones(3).cuda()\n")
    runs: weakref.WeakSet[Run] = weakref.WeakSet()
    begin = Run.__init__

    def noted(run: Run, *given: Any, **named: Any) -> None:
        begin(run, *given, **named)
        runs.add(run)

    monkeypatch.setattr(Run, "__init__", noted)
    gc.disable()
    try:
        found = lint.check(SourceFile.from_bytes(script.read_bytes(), "train.py"), None, Project())
        assert "DEV102" in {one.code for one in found.findings}
        assert not runs
    finally:
        gc.enable()
