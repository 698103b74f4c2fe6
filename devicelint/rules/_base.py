"""What a rule is: a class that hears events and says a sentence about devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from devicelint.domain.history import Site
from devicelint.finding import Certainty, Severity
from devicelint.fixes import Rewrite


def line_of(index: int) -> str:
    """A mark in a message that becomes the line of the related place with this index."""
    return f"\0{index}\0"


@dataclass(frozen=True)
class Report:
    """What a rule has to say about one place, before places are turned into spans.

    `severity` is the rule's own unless given.  Reports of one rule that share `subject` (by
    default the site) are one finding: a value that is used five times is reported once.
    """

    site: Site
    message: str
    related: tuple[tuple[Site, str], ...] = ()
    severity: Severity | None = None
    certainty: Certainty = Certainty.CERTAIN
    fix: Rewrite | None = None
    subject: object = None
    anywhere: bool = False
    """Whether it holds on every machine, so that none is named."""


Reports = Iterator[Report]


class Rule:
    """One rule: `on_mixed_operation(event, scene)` hears every `MixedOperation`, and so on.

    Each of these methods yields the reports that the event is worth.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]

    @classmethod
    def documentation(cls) -> str:
        """The page of the rule: what it finds, why, examples, and what it does not report."""
        from importlib import resources  # Heavy, and nothing that a check needs.

        page = resources.files("devicelint.rules") / f"{cls.name.replace('-', '_')}.md"
        return page.read_text(encoding="utf-8")
