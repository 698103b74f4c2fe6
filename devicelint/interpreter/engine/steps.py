"""The steps of a walk that somebody may hear, and what whoever hears them notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any, Concatenate, ParamSpec, Self

import libcst as cst

from devicelint.domain.events import Event
from devicelint.domain.values import Module, Value

Heard = ParamSpec("Heard")


class Notes:
    """What one part of the interpreter keeps in mind of a walk; that part owns the class."""

    def fork(self) -> Self:
        """A copy of its own, for a part of the walk that is to leave no trace here."""
        made = copy(self)
        for name, held in vars(self).items():
            if isinstance(held, (dict, set, list)):
                setattr(made, name, copy(held))
        return made


class Hearer(Notes):
    """Hears steps of a walk: those whose methods it defines."""

    def on_assigned(self, value: Value) -> None:
        """A name or an attribute is given a value by the current statement."""

    def on_joined(self, left: Value, right: Value) -> None:
        """Two paths meet on which one place, or the result of a call, has these values."""

    def on_optimizer_stepped(self, module: Module, site: cst.Call) -> None:
        """An optimizer steps over the parameters of a module."""

    def at_end(self) -> Iterator[Event]:
        """What there is to announce when the walk is over."""
        yield from ()


class Steps:
    """What to call at each step of a walk: one who hears it, all who do, or nobody."""

    __slots__ = ("assigned", "joined", "optimizer_stepped")

    def __init__(self, hearers: Iterable[Hearer] = ()) -> None:
        among = tuple(hearers)
        self.assigned = _heard(among, Hearer.on_assigned)
        self.joined = _heard(among, Hearer.on_joined)
        self.optimizer_stepped = _heard(among, Hearer.on_optimizer_stepped)


def _heard(
    hearers: Sequence[Hearer], step: Callable[Concatenate[Any, Heard], None]
) -> Callable[Heard, None]:
    name = step.__name__
    hear = [getattr(one, name) for one in hearers if getattr(type(one), name) is not step]
    if len(hear) == 1:
        only: Callable[Heard, None] = hear[0]
        return only
    return _to_all(hear) if hear else _unheard


def _to_all(hear: list[Callable[Heard, None]]) -> Callable[Heard, None]:
    def step(*args: Heard.args, **kwargs: Heard.kwargs) -> None:
        for one in hear:
            one(*args, **kwargs)

    return step


def _unheard(*args: object, **kwargs: object) -> None:
    """Nobody hears this step."""
