"""Runs in a folder of their own, which tell what was checked anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from devicelint.cli import main
from devicelint.cli.run import examine

CHECK = ("--output-format", "concise", "-q", "--ignore", "hard-coded-accelerator", ".")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def checked(monkeypatch):
    """The paths of the files that were not remembered."""
    paths: list[str] = []

    def examined(source, config, project):
        paths.append(source.path)
        return real(source, config, project)

    real = examine.examine
    monkeypatch.setattr("devicelint.cli.run.checking.examine", examined)
    return paths


@pytest.fixture
def run(checked, capsys):
    """Run, and tell which files were checked anew, and what was found."""

    def run_it(*words: str) -> tuple[list[str], str]:
        checked.clear()
        main([*(words or CHECK)])
        return list(checked), capsys.readouterr().out

    return run_it


def write(**texts: str) -> None:
    for name, text in texts.items():
        Path(f"{name}.py").write_text(text, encoding="utf-8")
