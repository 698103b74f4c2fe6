"""What a rule is: a class that listens to events and says a sentence about devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from devicelint.domain.history import Site
from devicelint.domain.torch_release import TorchRelease
from devicelint.finding import Certainty, Severity
from devicelint.fixes import Rewrite

if TYPE_CHECKING:
    from typing_extensions import Self


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
    unless: Site = None
    """The container that the code may see to by itself, anywhere, which makes it moot."""
    fails_without: bool = False
    """Whether it is about what fails without an accelerator as well, wherever its callers are."""


Reports = Iterator[Report]


class Rule:
    """One rule: `on_mixed_operation(event, context)` listens to every `MixedOperation`, and so on.

    Each of these methods yields the reports that the event is worth.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]
    unfixed: ClassVar[str] = ""
    """Why some of its findings have no fix."""
    default: ClassVar[bool] = True
    """Whether it is checked where the settings do not name it."""
    adopts: ClassVar[bool] = False
    """Whether its fix is a step of adoption, so that `adopt` selects it though it is off."""
    preview: ClassVar[bool] = False
    """Whether it is new, and may still change, so that the settings have to allow it."""
    until: ClassVar[TorchRelease | None] = None
    """The release of torch that made it moot."""

    plugin: ClassVar[str] = ""
    """The plug-in that brings it; empty for the rules of devicelint."""

    asked_for: bool = False
    """Whether the settings name it, or a file is to be adopted: else it is on by default."""
    torch: TorchRelease | None = None
    """The oldest release of torch that the code has to work with, None for the newest."""

    @classmethod
    def for_torch(cls, torch: TorchRelease | None, *, asked_for: bool = False) -> Self:
        """The rule, as it is for code that has to work with a release of torch."""
        rule = cls()
        rule.torch, rule.asked_for = torch, asked_for
        return rule

    def may_use(self, since: TorchRelease) -> bool:
        """Whether a fix may write what came with a release of torch."""
        return self.torch is None or self.torch >= since

    @classmethod
    def concerns(cls, torch: TorchRelease | None) -> bool:
        """Whether code that has to work with a release of torch can make this mistake."""
        return cls.until is None or (torch is not None and torch < cls.until)

    @classmethod
    def documentation(cls) -> str:
        """The page of the rule: what it finds, why, examples, and what it does not report."""
        from importlib import resources  # Heavy, and nothing that a check needs.

        page = resources.files("devicelint.rules") / f"{cls.name.replace('-', '_')}.md"
        return page.read_text(encoding="utf-8")
