"""What a benchmark promises, told."""

from __future__ import annotations

from collections.abc import Iterable


def all_kept(promises: Iterable[tuple[bool, str]]) -> bool:
    """Print each promise, with whether it holds; whether all do."""
    kept = list(promises)
    for holds, label in kept:
        print(f"{'pass' if holds else 'FAIL'}  {label}")
    return all(holds for holds, _ in kept)
