"""Digits of noise, as tensorflow 1 gave them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

SAMPLES = 256


class Digits:
    """Images as rows of numbers, with their labels."""

    def __init__(self, seed: int, *, one_hot: bool) -> None:
        numbers = np.random.default_rng(seed)
        self.images = numbers.random((SAMPLES, 784), dtype="float32")
        classes = numbers.integers(0, 10, SAMPLES)
        self.labels = np.eye(10, dtype="float32")[classes] if one_hot else classes
        self.num_examples = SAMPLES
        self._at = 0

    def next_batch(self, size: int, **_options: object) -> tuple[Any, Any]:
        """The next images and labels, from the beginning again where there are no more."""
        chosen: Any = np.arange(self._at, self._at + size) % SAMPLES
        self._at = (self._at + size) % SAMPLES
        return self.images[chosen], self.labels[chosen]


def read_data_sets(_folder: str = "", *, one_hot: bool = False, **_options: object) -> Any:
    """Give the three sets."""
    parts = ("train", "validation", "test")
    return SimpleNamespace(
        **{part: Digits(seed, one_hot=one_hot) for seed, part in enumerate(parts)}
    )
