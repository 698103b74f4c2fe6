"""What comparisons with numbers say of each other: `count > 1` means `count > 0`.

What is asked for its truth as well is a switch or a count, where nothing below 0 is compared with
it: `if count` means `count > 0`.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import NamedTuple

_WRITTEN = re.compile(r"(?P<what>[\w.\[\]\"'()]+)( ?(?P<sign>[<>]=?|[!=]=) ?(?P<number>-?\d+))?")
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Comparison(NamedTuple):
    """Something compared with a number; its truth is that it is not 0."""

    what: str
    sign: str
    number: int
    is_truth: bool = False

    def holds(self, value: float) -> bool:
        """Whether it is true of a value."""
        return _SIGNS[self.sign](value, self.number)


@functools.cache
def comparison(code: str) -> Comparison | None:
    """The comparison with a number that a condition is, if it is one."""
    found = _WRITTEN.fullmatch(code)
    if found is None:
        return None
    if found["sign"] is None:
        return Comparison(found["what"], "!=", 0, is_truth=True)
    return Comparison(found["what"], found["sign"], int(found["number"]))


def implied_by(settings: tuple[tuple[str, bool], ...], code: str) -> bool | None:
    """What a condition must be where others are chosen; None: either."""
    asked = comparison(code) if settings else None
    if asked is None:
        return None
    known = [(one, chosen) for key, chosen in settings if (one := comparison(key)) is not None]
    known = [(one, chosen) for one, chosen in known if one.what == asked.what]
    if not known:
        return None
    numbers = {asked.number, *(one.number for one, _ in known)}
    # Each stretch between the numbers, and each number itself, has one answer.
    values = [number + step for number in numbers for step in (-0.5, 0.0, 0.5)]
    if asked.is_truth or any(one.is_truth for one, _ in known):
        values = [value for value in values if value >= min(0, *numbers)]
    answers = {
        asked.holds(value)
        for value in values
        if all(one.holds(value) is chosen for one, chosen in known)
    }
    return answers.pop() if len(answers) == 1 else None
