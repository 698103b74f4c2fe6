"""What a server imports, and when: it answers its editor before it imports the analyser."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import pytest

from devicelint.server import garbage
from devicelint.server.worker import Worker
from tests.server.editor import Editor

ANALYSER = ("libcst", "devicelint.interpreter", "devicelint.rules", "devicelint.linter.lint")


def imported_by(code: str) -> set[str]:
    """The modules that are there after some code, in a process of its own."""
    shown = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_server_that_listens_has_not_imported_the_analyser():
    found = imported_by("from devicelint.server.service import listening; listening()")
    assert "devicelint.server.server" in found
    assert not found & {*ANALYSER}


def test_the_analyser_is_imported_with_the_first_check():
    found = imported_by("from devicelint.server.worker import Worker; Worker().prepare()")
    assert found >= {*ANALYSER}


def test_a_server_prepares_once_its_editor_has_heard_from_it(tmp_path):
    editor = Editor(tmp_path)
    uri = editor.open(tmp_path / "train.py", "import torch\n")
    assert editor.found(uri) == []
    assert editor.leave() == 0


@pytest.fixture
def counted(monkeypatch) -> list[int]:
    """The generations that are collected."""
    collected: list[int] = []
    monkeypatch.setattr(gc, "collect", collected.append)
    return collected


@pytest.mark.parametrize(
    ("count", "wanted"),
    [((10, 0, 0), []), ((500_000, 0, 0), [0]), ((500_000, 10, 0), [1]), ((500_000, 10, 10), [2])],
)
def test_garbage_is_collected_where_there_may_be_much(monkeypatch, counted, count, wanted):
    monkeypatch.setattr(gc, "get_count", lambda: count)
    garbage.collect()
    assert counted == wanted


def test_a_check_is_held_up_where_there_is_very_much(monkeypatch, counted):
    monkeypatch.setattr(gc, "get_count", lambda: (500_000, 0, 0))
    garbage.collect(garbage.MOST_OBJECTS)
    assert counted == []
    monkeypatch.setattr(gc, "get_count", lambda: (garbage.MOST_OBJECTS, 0, 0))
    garbage.collect(garbage.MOST_OBJECTS)
    assert counted == [0]


def test_what_a_worker_checks_with_is_made_once():
    worker = Worker()
    found = []
    thread = threading.Thread(target=lambda: found.append(worker.prepare()))
    thread.start()
    thread.join()
    assert found == [worker.checker]
