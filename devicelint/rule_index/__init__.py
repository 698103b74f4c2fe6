"""What is known of each rule without importing it, or anything else that a check needs.

Importing the rules means importing libcst, which takes longer than all that a run does which finds
its answers in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from devicelint.rule_index._facts import RuleFacts
from devicelint.rule_index._installed import GROUP, any_installed
from devicelint.rule_index._written import RULES

__all__ = [
    "GROUP",
    "RULES",
    "RuleFacts",
    "all_facts",
    "any_installed",
    "facts_named",
    "known_rules",
    "plugged_in",
]


def all_facts() -> tuple[RuleFacts, ...]:
    """What is known of every rule, by code; raises InputError for a plug-in that is none."""
    return tuple(sorted((*RULES, *_plugged_facts()), key=lambda facts: facts.code))


def _plugged_facts() -> tuple[RuleFacts, ...]:
    # By name, and where there are any alone: what loads them stands on the rules, and on libcst.
    return import_module("devicelint.plugins").facts() if any_installed() else ()


def plugged_in() -> str:
    """What changes when the rules of plug-ins do, for a cache; empty where there are none."""
    return import_module("devicelint.plugins").identity() if any_installed() else ""


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
