"""What is known of each rule without importing it, or anything else that a check needs.

Importing the rules means importing libcst, which takes longer than all that a run does which finds
its answers in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping

from devicelint.rule_index._facts import RuleFacts
from devicelint.rule_index._written import RULES

__all__ = ["RuleFacts", "add", "all_facts", "facts_named", "known_rules"]

_added: dict[str, RuleFacts] = {}


def all_facts() -> tuple[RuleFacts, ...]:
    """What is known of every rule, by code."""
    return tuple(sorted((*RULES, *_added.values()), key=lambda facts: facts.code))


def known_rules() -> Mapping[str, str]:
    """Every rule: code to name."""
    return {facts.code: facts.name for facts in all_facts()}


def facts_named(code_or_name: str) -> RuleFacts | None:
    """What is known of the rule with a code such as DEV101, or a name such as mixed-devices."""
    wanted = code_or_name.lower()
    for facts in all_facts():
        if wanted in (facts.code.lower(), facts.name):
            return facts
    return None


def add(facts: RuleFacts) -> None:
    """Let a rule that comes from elsewhere be known like those that come with devicelint."""
    _added[facts.code] = facts
