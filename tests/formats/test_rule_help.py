"""Where reports say that the page of a rule can be read."""

from email.message import Message
from importlib import metadata

import pytest

from devicelint.reporters import rule_help


@pytest.fixture
def published(monkeypatch):
    """Let the distribution say where its documentation is."""

    def publish(*urls: str) -> None:
        message = Message()
        for url in urls:
            message["Project-URL"] = url
        monkeypatch.setattr(metadata, "metadata", lambda name: message)
        rule_help._documentation.cache_clear()

    yield publish
    rule_help._documentation.cache_clear()


def test_a_rule_has_a_page_where_the_documentation_is(published):
    published("Source, https://x.example/src", "Documentation, https://x.example/docs/")
    page = "https://x.example/docs/rules/module_input_elsewhere.html"
    assert rule_help.help_uri("DEV101") == page
    assert rule_help.help_uri("XYZ999") is None


def test_a_rule_has_no_page_where_nobody_says(published):
    published()
    assert rule_help.help_uri("DEV101") is None
