"""What people see of a rule before it has found anything."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from devicelint.domain.torch_release import TorchRelease
from devicelint.finding import Severity


class _Rule(Protocol):
    """A rule, as its class states it."""

    code: str
    name: str
    severity: Severity
    summary: str
    default: bool
    adopts: bool
    until: TorchRelease | None
    preview: bool


class RuleFacts(NamedTuple):
    """What a rule's class says of it; `devicelint.rules.Rule` says what each means."""

    code: str
    name: str
    severity: Severity
    summary: str
    default: bool = True
    adopts: bool = False
    until: TorchRelease | None = None
    page: str | None = None
    """The text of its page, where that does not lie beside the rules of devicelint."""
    preview: bool = False

    @classmethod
    def of(cls, rule: _Rule, page: str | None = None) -> RuleFacts:
        """What a class of a rule states."""
        stated = (rule.code, rule.name, rule.severity, rule.summary)
        return cls(*stated, rule.default, rule.adopts, rule.until, page, rule.preview)

    def documentation(self) -> str:
        """The page of the rule: what it finds, why, examples, and what it does not report."""
        if self.page is not None:
            return self.page
        from importlib import resources  # Heavy, and nothing that a check needs.

        # Not of the package `rules`, which would be imported.
        page = resources.files("devicelint") / "rules" / f"{self.name.replace('-', '_')}.md"
        return page.read_text(encoding="utf-8")
