"""A folder with a script, what installs plug-ins, and the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.cli import main
from tests.plugins.plugging import SCRIPT, installing


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT, encoding="utf-8")


@pytest.fixture
def installed(tmp_path):
    with installing(tmp_path / "site") as install:
        yield install


@pytest.fixture
def run(capfd):
    def with_words(*words: str) -> tuple[int, str, str]:
        status = main(words)
        return status, *capfd.readouterr()

    return with_words
