"""Which of several settings decides about a rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from devicelint.text.selectors import specificity


class Decision(NamedTuple):
    """Whether a rule is checked, or reported in a file, and what says so."""

    on: bool
    key: str = ""
    """The setting; empty where nothing says anything, and the default holds."""
    item: str = ""
    """The item of its list, or the key of its table."""


class Vote(NamedTuple):
    """What an item of a setting says about a rule; higher ones overrule."""

    closeness: int
    key: str = ""
    item: str = ""


def votes(key: str, selectors: Iterable[str], code: str, name: str) -> list[Vote]:
    """What the items of a setting say about a rule."""
    said = (Vote(specificity(each, code, name), key, each) for each in selectors)
    return [vote for vote in said if vote.closeness]


def decided(wanting: Iterable[Vote], unwanting: Iterable[Vote]) -> Decision:
    """What comes of all that is said; where both sides name the rule equally closely, it is off."""
    wanted = max(wanting, key=_closeness, default=Vote(0))
    unwanted = max(unwanting, key=_closeness, default=Vote(0))
    if unwanted.closeness >= max(wanted.closeness, 1):
        return Decision(False, *unwanted[1:])
    return Decision(wanted.closeness > 0, *wanted[1:])


def _closeness(vote: Vote) -> int:
    return vote.closeness


def closest(selectors: Iterable[str], code: str, name: str) -> int:
    """How closely any of the selectors names a rule; 0 where none does."""
    return max((specificity(selector, code, name) for selector in selectors), default=0)
