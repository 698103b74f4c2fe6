"""The steps of a walk that somebody may hear, and what whoever hears them notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any, Concatenate, ParamSpec, TypeVar

import libcst as cst

from devicelint.domain.events import Event
from devicelint.domain.values import Module, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments

Heard = ParamSpec("Heard")
Forked = TypeVar("Forked", bound="Notes")


class Notes:
    """What one part of the interpreter keeps in mind of a walk; that part owns the class."""

    def fork(self: Forked) -> Forked:
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

    def on_read_by_host(self, given: Argument, site: cst.CSTNode) -> None:
        """Python needs what a value holds, a number or a text; `site` is what asks for it."""

    def on_called_unseen(self, callee: Value, arguments: Arguments, site: cst.Call) -> None:
        """Something is called of which it is not known what it does, or not what it gives."""

    def on_called_elsewhere(self, arguments: Arguments, site: cst.BaseExpression) -> None:
        """The checked file calls a function of another file, which was walked."""

    def on_tested(self, node: cst.CSTNode, value: Value) -> None:
        """A value is asked whether it is true."""

    def on_branching(self, node: cst.BaseExpression) -> None:
        """The branches of a test are walked from here on."""

    def on_branched(self) -> None:
        """The branches of the last test were walked."""

    def on_used_as_index(self, value: Value) -> None:
        """A value is used as the number of a device."""

    def on_option_declared(self, arguments: Arguments) -> None:
        """`add_argument` is called on what may be a parser of the command line."""

    def on_parameter_unknown(self, name: str, parameter: cst.Param) -> None:
        """A parameter gets its value from a caller that nobody sees."""

    def at_end(self) -> Iterator[Event]:
        """What there is to announce when the walk is over."""
        yield from ()


class Steps:
    """What to call at each step of a walk: one who hears it, all who do, or nobody."""

    __slots__ = (
        "assigned",
        "branched",
        "branching",
        "called_elsewhere",
        "called_unseen",
        "joined",
        "optimizer_stepped",
        "option_declared",
        "parameter_unknown",
        "read_by_host",
        "tested",
        "used_as_index",
    )

    def __init__(self, hearers: Iterable[Hearer] = ()) -> None:
        among = tuple(hearers)
        self.assigned = _heard(among, Hearer.on_assigned)
        self.joined = _heard(among, Hearer.on_joined)
        self.optimizer_stepped = _heard(among, Hearer.on_optimizer_stepped)
        self.read_by_host = _heard(among, Hearer.on_read_by_host)
        self.called_unseen = _heard(among, Hearer.on_called_unseen)
        self.called_elsewhere = _heard(among, Hearer.on_called_elsewhere)
        self.tested = _heard(among, Hearer.on_tested)
        self.branching = _heard(among, Hearer.on_branching)
        self.branched = _heard(among, Hearer.on_branched)
        self.used_as_index = _heard(among, Hearer.on_used_as_index)
        self.option_declared = _heard(among, Hearer.on_option_declared)
        self.parameter_unknown = _heard(among, Hearer.on_parameter_unknown)


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
