"""What reports say of a rule, from its page."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from devicelint.rule_index import RuleFacts, facts_named

_TITLE = re.compile(r"#[^\n]*\n")
_EXAMPLE = re.compile(r"^(?:```|~~~|###? )", re.MULTILINE)
_SECTION = re.compile(r"^## (?P<title>[^\n]+)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_SHOWN_SECTIONS = ("Why", "Fix")


class RuleHelp(NamedTuple):
    """A rule, in words that need no page."""

    description: str
    """What it finds, on one line."""
    text: str
    """Why that is a mistake, and what fixes it, in Markdown and without examples."""


@cache
def rule_help(facts: RuleFacts) -> RuleHelp:
    """Return what the page of a rule says."""
    page = _TITLE.sub("", facts.documentation(), count=1)
    sections = {section["title"].strip(): section["body"] for section in _SECTION.finditer(page)}
    description = " ".join(_EXAMPLE.split(page)[0].split()) or facts.summary
    paragraphs = [
        f"**{title}.** {_opening(sections[title])}"
        for title in _SHOWN_SECTIONS
        if title in sections
    ]
    return RuleHelp(description, "\n\n".join((description, *paragraphs)))


def _opening(section: str) -> str:
    """Return what a section says before its first example or heading."""
    return _EXAMPLE.split(section)[0].strip()


@cache
def documentation() -> str | None:
    """Return where this distribution says that its pages are published, if it does."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata("devicelint").get_all("Project-URL") or ()
    except PackageNotFoundError:
        return None
    named = dict(url.split(", ", 1) for url in urls)
    return named.get("Documentation")


def help_uri(code: str) -> str | None:
    """Return where the page of a rule can be read; None where it is not published."""
    facts, pages = facts_named(code), documentation()
    if facts is None or facts.page is not None or pages is None:
        return None
    return f"{pages.rstrip('/')}/rules/{facts.name.replace('-', '_')}.html"
