"""The steps of a walk that somebody may hear, and what whoever hears them notes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Concatenate, ParamSpec, TypeVar

import libcst as cst

from devicelint.domain.events import Event, Operand, Transfer
from devicelint.domain.history import Site
from devicelint.domain.values import Function, Module, Tensor, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.frame import Frame

Given = ParamSpec("Given")
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

    def on_assignment(self, statement: cst.Assign) -> None:
        """The value of an assignment is evaluated; nothing is bound to it yet."""

    def on_attribute_assigned(
        self, target: cst.Attribute, statement: cst.Assign | cst.AnnAssign
    ) -> None:
        """A statement is about to assign to an attribute."""

    def on_assigned(self, value: Value) -> None:
        """A name or an attribute is given a value by the current statement."""

    def on_tuple(self, node: cst.Tuple, items: Sequence[Value]) -> None:
        """A tuple is written out, of these items."""

    def on_parameter(self, name: str, parameter: cst.Param) -> None:
        """A parameter gets a value that only the caller knows."""

    def on_option(self, arguments: Arguments) -> None:
        """An option is declared for the command line."""

    def on_defaulted(
        self, frame: Frame, parameter: cst.Param, value: Value, arguments: Arguments
    ) -> None:
        """A call leaves a parameter of a function to its default; `frame` is to be walked next."""

    def on_entered(self, frame: Frame) -> None:
        """A function is about to be walked; its parameters are bound to what it is given."""

    def on_returning(self, frame: Frame) -> None:
        """A function was walked, and what its paths return is about to be joined."""

    def on_returned(self, frame: Frame, arguments: Arguments, result: Value) -> None:
        """A call of a function has returned."""

    def on_joined(self, left: Value, right: Value) -> None:
        """Two paths meet on which one place, or the result of a call, has these values."""

    def on_called_unseen(self, callee: Value, arguments: Arguments, site: cst.Call) -> None:
        """Something is called of which it is not known what it does, or not what it gives."""

    def on_not_followed(self, function: Function) -> None:
        """A function is called, too deep or too far away to be walked."""

    def on_called_elsewhere(self, arguments: Arguments, site: cst.BaseExpression) -> None:
        """The checked file calls a function of another file, which was walked."""

    def on_tested(self, node: cst.BaseExpression, value: Value) -> None:
        """A value is taken for a condition."""

    def on_branches_entered(self, test: cst.BaseExpression) -> None:
        """What depends on a test is walked from here on."""

    def on_branches_left(self) -> None:
        """What depends on the test that was entered last is walked."""

    def on_read(self, given: Argument, site: cst.CSTNode) -> None:
        """Python reads the number in a value: to print it, to decide by it."""

    def on_index_used(self, value: Value) -> None:
        """A value is the index of a device."""

    def on_demanded(self, site: cst.CSTNode) -> None:
        """The code goes to a device here."""

    def on_loaded(self, site: cst.Call, *, fits: bool) -> None:
        """A checkpoint is read without map_location; it fits any machine, or may be another's."""

    def on_transfer(self, transfer: Transfer) -> None:
        """A value is moved, or was to be."""

    def on_leaf(self, tensor: Tensor) -> None:
        """A tensor is made that may be trained, or is given to an optimizer."""

    def on_module_built(self, module: Module) -> None:
        """A module is built."""

    def on_module_called(self, own: Operand, arguments: Arguments) -> None:
        """A module is called, or what was moved like one."""

    def on_optimizer_built(self) -> None:
        """An optimizer is built."""

    def on_optimized(self, modules: Sequence[Module], given: Site) -> None:
        """An optimizer is given the parameters of modules; none, where nothing is known of them."""

    def on_optimizer_stepped(self, module: Module, site: cst.Call) -> None:
        """An optimizer steps over the parameters of a module."""

    def at_end(self) -> Iterator[Event]:
        """What there is to announce when the walk is over."""
        yield from ()


class Steps:
    """What to call at each step of a walk: one who hears it, all who do, or nobody."""

    def __init__(self, hearers: Sequence[Hearer] = ()) -> None:
        among = _heard_by(hearers)
        self.assignment = _to_hearers(among, Hearer.on_assignment)
        self.attribute_assigned = _to_hearers(among, Hearer.on_attribute_assigned)
        self.assigned = _to_hearers(among, Hearer.on_assigned)
        self.tuple = _to_hearers(among, Hearer.on_tuple)
        self.parameter = _to_hearers(among, Hearer.on_parameter)
        self.option = _to_hearers(among, Hearer.on_option)
        self.defaulted = _to_hearers(among, Hearer.on_defaulted)
        self.entered = _to_hearers(among, Hearer.on_entered)
        self.returning = _to_hearers(among, Hearer.on_returning)
        self.returned = _to_hearers(among, Hearer.on_returned)
        self.joined = _to_hearers(among, Hearer.on_joined)
        self.tested = _to_hearers(among, Hearer.on_tested)
        self.branches_entered = _to_hearers(among, Hearer.on_branches_entered)
        self.branches_left = _to_hearers(among, Hearer.on_branches_left)
        self.read = _to_hearers(among, Hearer.on_read)
        self.index_used = _to_hearers(among, Hearer.on_index_used)
        self.demanded = _to_hearers(among, Hearer.on_demanded)
        self.transfer = _to_hearers(among, Hearer.on_transfer)
        self.leaf = _to_hearers(among, Hearer.on_leaf)
        self.module_built = _to_hearers(among, Hearer.on_module_built)
        self.module_called = _to_hearers(among, Hearer.on_module_called)
        self._of_calls(among)
        self._of_programs(among)

    def _of_calls(self, among: _Heard) -> None:
        self.called_unseen = _to_hearers(among, Hearer.on_called_unseen)
        self.not_followed = _to_hearers(among, Hearer.on_not_followed)
        self.called_elsewhere = _to_hearers(among, Hearer.on_called_elsewhere)

    def _of_programs(self, among: _Heard) -> None:
        self.loaded = _to_hearers(among, Hearer.on_loaded)
        self.optimizer_built = _to_hearers(among, Hearer.on_optimizer_built)
        self.optimized = _to_hearers(among, Hearer.on_optimized)
        self.optimizer_stepped = _to_hearers(among, Hearer.on_optimizer_stepped)


_Heard = Mapping[str, list[Callable[..., None]]]
"""What hears each step that anybody hears."""


def _heard_by(hearers: Sequence[Hearer]) -> _Heard:
    found: dict[str, list[Callable[..., None]]] = {}
    for one in hearers:
        kind: type = type(one)
        for name in _steps_of(kind):
            found.setdefault(name, []).append(getattr(one, name))
    return found


@functools.cache
def _steps_of(kind: type) -> tuple[str, ...]:
    """The steps that a kind of hearer defines methods for."""
    steps = (name for name in dir(Hearer) if name.startswith("on_"))
    return tuple(name for name in steps if getattr(kind, name) is not getattr(Hearer, name))


def _to_hearers(
    among: _Heard, step: Callable[Concatenate[Any, Given], None]
) -> Callable[Given, None]:
    steps = among.get(step.__name__, [])
    if len(steps) == 1:
        only: Callable[Given, None] = steps[0]
        return only
    return _to_all(steps) if steps else _to_nobody


def _to_all(steps: list[Callable[Given, None]]) -> Callable[Given, None]:
    def step(*args: Given.args, **kwargs: Given.kwargs) -> None:
        for one in steps:
            one(*args, **kwargs)

    return step


def _to_nobody(*args: object, **kwargs: object) -> None:
    """Nobody hears this step."""
