"""The command line, in a folder of its own."""

import pytest

from devicelint.cli import main


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capfdbinary, in_a_folder):
    def run_it(*words: str) -> tuple[int, str, str]:
        status = main(words)
        out, error = capfdbinary.readouterr()
        return status, out.decode(), error.decode()

    return run_it
