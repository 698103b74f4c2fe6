"""The page of a rule for readers: without what only its tests read."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^(?P<fence> *`{3,})(?P<language>py|diff|text)\b[^\n]*$", re.MULTILINE)
_LANGUAGES = {"py": "python", "diff": "diff", "text": "text"}
_FOUND = re.compile(r"# (?:error|warning|note): (?:\d+ )?\[(?P<rule>[\w-]+)\](?: \"[^\"\n]*\")?")
_TEST_ONLY = re.compile(
    r"[ ]*# (?:todo (?:error|warning|note)\b[^\n#]*|raises\b(?:: (?:nothing|\"[^\"\n]*\"))?)"
)
_RULE_LINK = re.compile(r"\[(?P<text>[^\[\]\n]+)\]\((?P<page>\w+)\.md(?:#[\w-]*)?\)")
_SECTION = re.compile(r"^## (?P<title>[^\n]+)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def for_reading(page: str) -> str:
    """Return the page with ordinary fences, and with the rule's name where it reports something.

    Links to the pages of other rules become their names, which `explain` takes.
    """
    page = _FENCE.sub(lambda each: each["fence"] + _LANGUAGES[each["language"]], page)
    return _RULE_LINK.sub(_named, _TEST_ONLY.sub("", _FOUND.sub(r"# \g<rule>", page)))


def _named(link: re.Match[str]) -> str:
    text, name = link["text"], link["page"].replace("_", "-")
    return text if name in text else f"{text} ({name})"


def sections(page: str) -> dict[str, str]:
    """Return the sections of a page by their titles."""
    return {each["title"].strip(): each[0] for each in _SECTION.finditer(page)}
