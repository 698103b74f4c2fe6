"""The rules and their pages, for a client that shows them."""

from __future__ import annotations

from devicelint.output.rule_page import for_reading
from devicelint.rule_index import all_facts, facts_named
from devicelint.server.server import Server


def rules(_: Server) -> list[dict[str, object]]:
    """The rules that can be selected, with their codes, names, summaries and severities."""
    return [
        {
            "code": rule.code,
            "name": rule.name,
            "summary": rule.summary,
            "severity": rule.severity.value,
            "default": rule.default,
        }
        for rule in all_facts()
    ]


def rule_page(_: Server, rule: str) -> str | None:
    """The page of a rule, by its code or name, in Markdown; None for an unknown rule."""
    facts = facts_named(rule)
    return None if facts is None else for_reading(facts.documentation())
