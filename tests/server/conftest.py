"""One server for all tests that need no settings of their own: each has a folder to itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.editor import Editor


@pytest.fixture(scope="session")
def editor(tmp_path_factory) -> Iterator[Editor]:
    editor = Editor(tmp_path_factory.mktemp("workspace"))
    yield editor
    assert editor.leave() == 0


@pytest.fixture
def path(editor, request) -> Path:
    folder: Path = editor.root / request.node.name
    folder.mkdir()
    return folder / "train.py"
