"""What a file rests on, by what was asked while it was checked.

A file rests on each file that an answer names.  It imports some of these; others answered what the
programs around it do, and such a program may well import the file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, KeysView, Mapping

from devicelint.workspace.questions import INSIDE, Question, named_in

Asked = Mapping[str, Mapping[Question, str | None]]
"""What was resolved in each file, by its home, and to what."""


def answers(asked: Asked, home: str) -> set[str]:
    """The homes that answer whatever was asked in a file."""
    found = asked.get(home, {}).items()
    return {one for question, answer in found for one in named_in(question, answer)}


def imports(asked: Asked, home: str) -> set[str]:
    """The homes of what a file has been seen to import."""
    found = asked.get(home, {}).items()
    return {one for question, one in found if one is not None and question.level >= INSIDE}


def reached(asked: Asked, home: str, step: Callable[[Asked, str], set[str]]) -> KeysView[str]:
    """The homes that a step after the other leads to, in the order of their distance."""
    found: dict[str, None] = {}
    waiting = deque([home])
    while waiting:
        new = sorted(step(asked, waiting.popleft()) - found.keys())
        found |= dict.fromkeys(new)
        waiting += new
    return found.keys()
