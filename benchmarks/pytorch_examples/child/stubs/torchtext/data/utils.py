"""The tokenizer."""

from __future__ import annotations

from collections.abc import Callable


def get_tokenizer(_name: str, _language: str) -> Callable[[str], list[str]]:
    """Give the tokenizer that splits at blanks, whatever is asked for."""
    return str.split
