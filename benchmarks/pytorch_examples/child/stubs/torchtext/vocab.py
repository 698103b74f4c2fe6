"""The vocabulary."""

from __future__ import annotations

from collections.abc import Iterable


class Vocabulary:
    """Numbers for words."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.numbers = {word: number for number, word in enumerate(words)}
        self.default = 0

    def set_default_index(self, index: int) -> None:
        """Number the words that are not known."""
        self.default = index

    def __len__(self) -> int:
        return len(self.words)

    def __call__(self, words: list[str]) -> list[int]:
        """Give the words' numbers."""
        return [self.numbers.get(word, self.default) for word in words]


def build_vocab_from_iterator(
    sentences: Iterable[list[str]], *, specials: list[str], **_options: object
) -> Vocabulary:
    """Number the special words first, the others in the order of the alphabet."""
    return Vocabulary(specials + sorted({word for words in sentences for word in words}))
