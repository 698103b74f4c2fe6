"""Which calls of numpy, matplotlib and their like read a tensor as an array."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from devicelint.knowledge import catalogue
from devicelint.knowledge.stubs_index import StubError

MARKS = {"Converts": True, "Elements": True, "Wraps": True, "Keeps": False}
_READING = frozenset(
    "IPython PIL cv2 jax loguru matplotlib numpy pandas scipy seaborn sklearn tqdm".split()
)
"""Libraries that look at what they are given: arrays and pictures, tables and messages."""

_AS_NUMBERS = {"matplotlib": frozenset({"vmax", "vmin"})}
"""Keywords of which a library asks `.item()`, which copies one number from any device."""


def is_read_as_number(library: str, keyword: str) -> bool:
    """Whether a library takes one number from a tensor that a keyword gives, wherever it is."""
    return keyword in _AS_NUMBERS.get(library, ())


def only_reads(library: str) -> bool:
    """Whether a library leaves the objects that it is given as they are."""
    return library in _READING


@functools.cache
def converts_to_numpy(qualified_name: str) -> bool:
    """Whether the call reads a tensor, or a list of them, through `__array__`: only on the CPU."""
    mark = catalogue.entry_for(_hosts(), qualified_name)
    return mark is not None and MARKS[mark]


@functools.cache
def converts_elements_alone(qualified_name: str) -> bool:
    """Whether the call reads a list of tensors so, and leaves a tensor to its own method."""
    return catalogue.entry_for(_hosts(), qualified_name) == "Elements"


@functools.cache
def wraps_in_tensor(qualified_name: str) -> bool:
    """Whether what the call makes of a tensor is a tensor again, on the CPU."""
    return catalogue.entry_for(_hosts(), qualified_name) == "Wraps"


@functools.cache
def _hosts() -> Mapping[str, str]:
    marks = catalogue.read("hosts")
    for name, mark in marks.items():
        if mark not in MARKS:
            raise StubError(f"hosts.pyi: {name}: unknown mark {mark}")
    return marks
