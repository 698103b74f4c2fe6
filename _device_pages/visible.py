"""Characters that cannot be seen, and what stands in their place."""

from __future__ import annotations

import unicodedata


def symbol(character: str) -> str:
    """A character that can be seen in the place of one that cannot."""
    if character.isprintable():
        return character
    if ord(character) < 0x20:
        return chr(0x2400 + ord(character))
    return " " if unicodedata.category(character) == "Zs" else "\N{REPLACEMENT CHARACTER}"
