"""What the names, methods and calls of libraries give, by the marks that catalogues give them."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devicelint.domain.values import External, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.knowledge import kind_of, mark_of, member_mark

Answer = Callable[[Run, Value, Arguments, cst.Call], Value]
ANSWERS: dict[str, Answer] = {}
"""What a marked function or method gives; of a function, the receiver is the function itself."""

Maker = Callable[[Run, str, Arguments, cst.Call], Value]
MAKERS: dict[str, Maker] = {}
"""What calling a class makes, by its kind."""


def answers(*marks: str) -> Callable[[Answer], Answer]:
    """Register what calling something with one of these marks gives."""

    def register(answer: Answer) -> Answer:
        ANSWERS.update(dict.fromkeys(marks, answer))
        return answer

    return register


def makes(*kinds: str) -> Callable[[Maker], Maker]:
    """Register what a class of one of these kinds makes."""

    def register(maker: Maker) -> Maker:
        MAKERS.update(dict.fromkeys(kinds, maker))
        return maker

    return register


def answer_for(class_name: str, member: str) -> Answer | None:
    """What a method of a listed class gives, where that is known."""
    return ANSWERS.get(member_mark(class_name, member) or "")


def answer_by_name(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value | None:
    """What a listed function, or a method called on a listed class, gives."""
    answer = ANSWERS.get(mark_of(name) or "")
    if answer is not None:
        return answer(run, External(name), arguments, site)
    owner, _, member = name.rpartition(".")
    if not owner[:1] or not owner.rpartition(".")[2][:1].isupper() or kind_of(owner) is None:
        return None
    answer = answer_for(owner, member)
    return None if answer is None else answer(run, External(owner), arguments, site)
