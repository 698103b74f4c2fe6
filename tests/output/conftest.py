"""The command line, in a folder of its own."""

from collections.abc import Callable, Iterator
from email.message import Message
from importlib import metadata

import pytest

from devicelint.cli import main
from devicelint.output import rule_help


@pytest.fixture(autouse=True)
def published(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return what sets the addresses of the distribution: none, whatever pyproject.toml names."""

    def publish(*urls: str) -> None:
        message = Message()
        for url in urls:
            message["Project-URL"] = url
        monkeypatch.setattr(metadata, "metadata", lambda name: message)
        rule_help.documentation.cache_clear()

    publish()
    yield publish
    rule_help.documentation.cache_clear()


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
