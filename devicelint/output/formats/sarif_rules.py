"""The rules as SARIF has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from devicelint.finding import Severity
from devicelint.output.rule_help import help_uri, rule_help
from devicelint.rule_index import RuleFacts, all_facts

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_PROBLEMS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "recommendation",
}
_KINDS = {
    Severity.ERROR: "correctness",
    Severity.WARNING: "portability",
    Severity.NOTE: "performance",
}


def rules() -> Iterator[dict[str, Any]]:
    """Yield every rule, whether it has found something or not."""
    yield from map(_descriptor, all_facts())


def _descriptor(facts: RuleFacts) -> dict[str, Any]:
    page = rule_help(facts)
    uri = help_uri(facts.code)
    return {
        "id": facts.code,
        "name": "".join(word.capitalize() for word in facts.name.split("-")),
        "shortDescription": {"text": facts.summary},
        "fullDescription": {"text": page.description},
        "help": {"text": page.text, "markdown": page.text},
        **({"helpUri": uri} if uri else {}),
        "defaultConfiguration": {"enabled": facts.default, "level": LEVELS[facts.severity]},
        "properties": {
            "tags": ["pytorch", "devices", _KINDS[facts.severity]],
            "precision": "very-high",
            "problem.severity": _PROBLEMS[facts.severity],
        },
    }
