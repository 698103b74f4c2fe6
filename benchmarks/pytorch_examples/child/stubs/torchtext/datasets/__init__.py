"""Sentences in two languages."""

from __future__ import annotations

import random

SENTENCES = {"train": 40, "valid": 8}


def Multi30k(split: str, **_options: object) -> list[tuple[str, str]]:  # noqa: N802 - its name
    """Give pairs of sentences, of the same length in both languages."""
    numbers = random.Random(split)
    drawn = (
        [numbers.randrange(30) for _ in range(numbers.randrange(3, 8))]
        for _ in range(SENTENCES[split])
    )
    return [
        (" ".join(f"wort{word}" for word in words), " ".join(f"word{word}" for word in words))
        for words in drawn
    ]
