"""How people name rules: by code, by the beginning of a code, by name, or `ALL`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

EVERY_RULE = "ALL"
"""Names every rule, less closely than anything else does."""


def specificity(selector: str, code: str, name: str) -> int:
    """How closely `selector` names the rule: 0 where it does not, more the more it says.

    >>> specificity("DEV1", "DEV101", "module-input-elsewhere")
    4
    >>> specificity("module-input-elsewhere", "DEV101", "module-input-elsewhere")
    6
    >>> specificity("ALL", "DEV101", "module-input-elsewhere")
    1
    """
    if selector == EVERY_RULE:
        return 1
    if selector.lower() == name:
        return len(code)
    return len(selector) if code.startswith(selector.upper()) else 0


def unknown_selector(selector: str, known: Mapping[str, str]) -> str | None:
    """The complaint about a selector that names none of the rules `known` (code to name)."""
    if any(specificity(selector, code, name) for code, name in known.items()):
        return None
    return f'no rule is called "{selector}"' + hint(selector, (*known, *known.values()))


def hint(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: `; did you mean "…"?`, or nothing."""
    from difflib import get_close_matches

    spelling = {each.lower(): each for each in known}
    nearest = get_close_matches(word.lower(), spelling, n=1, cutoff=0.65)
    return f'; did you mean "{spelling[nearest[0]]}"?' if nearest else ""
