"""Walks through a program that note which calls are given a tensor, and what these come to."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from devicelint.domain.events import Event
from devicelint.domain.values import (
    Batch,
    Bound,
    Class,
    DictOf,
    Distribution,
    Function,
    Imported,
    ImportedName,
    Instance,
    LibraryObject,
    ListOf,
    Module,
    Parameters,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.budget import Budget
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Listener, Run

OWN = "the program's own: "
"""Stands before what is no function of a library."""


@dataclass
class Census:
    """What the calls of a file come to, by the place of each.

    Attributes:
        unknown: what is called, where the result was unknown in some walk.
        known: the calls that gave something known in some walk.
    """

    unknown: dict[cst.Call, str] = field(default_factory=dict)
    known: set[cst.Call] = field(default_factory=set)

    def walker(
        self, program: Program, world: World, listener: Listener, *, budget: Budget, splits: bool
    ) -> Run:
        """A run that notes calls; for `explore`."""
        return _CountingRun(program, world, listener, self, budget=budget, splits=splits)


def listener_for(_world: World) -> Listener:
    """Nobody listens to events."""
    return _hear_nothing


def _hear_nothing(event: Event, run: Run) -> None:
    """Events are the rules' affair."""


class _CountingRun(Run):
    """Notes what the calls of the checked file come to that are given a tensor."""

    def __init__(
        self,
        program: Program,
        world: World,
        listener: Listener,
        census: Census,
        *,
        budget: Budget,
        splits: bool,
    ) -> None:
        super().__init__(program, world, listener, budget=budget, splits=splits)
        self._census = census
        self._values: dict[cst.CSTNode, Value] = {}
        self._holding: dict[cst.CSTNode, bool] = {}
        """Whether a tensor was in it as it was evaluated; a call may put something else there."""
        self._called: dict[cst.Call, tuple[Value, Arguments]] = {}

    def call(self, callee: Value, arguments: Arguments, site: cst.Call) -> Value:
        """What calling a value gives; who was called is remembered."""
        self._called.setdefault(site, (callee, arguments))
        return super().call(callee, arguments, site)

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of an expression; of a call, what it came to is noted."""
        if self.frame.home != GLOBALS:
            return super().evaluate(node)
        if isinstance(node, cst.Call):
            self._called.pop(node, None)
        value = super().evaluate(node)
        self._values[node] = value
        self._holding[node] = _holds_tensor(self, value)
        if isinstance(node, cst.Call):
            self._note(node, value)
        return value

    def _note(self, node: cst.Call, value: Value) -> None:
        given = [argument.value for argument in node.args]
        receiver = None
        if isinstance(node.func, cst.Attribute):
            given.append(node.func.value)
            receiver = self._values.get(node.func.value)
        if not any(self._holding.get(one) for one in given):
            return
        if not isinstance(value, Unknown):
            self._census.known.add(node)
        else:
            self._census.unknown[node] = self._named(node, receiver)

    def _named(self, node: cst.Call, receiver: Value | None) -> str:
        callee = self._called.get(node, (self._values.get(node.func), None))[0]
        if isinstance(callee, ImportedName):
            return callee.name
        if isinstance(callee, (Function, Bound, Class, Imported)):
            return f"{OWN}{type(callee).__name__.lower()}"
        if isinstance(callee, Module):
            return self._class_of(callee)
        member = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
        owner = self._class_of(receiver) if member and receiver is not None else ""
        return f"{owner}.{member}" if owner else f"{OWN}{type(callee).__name__.lower()}"

    def _class_of(self, value: Value) -> str:
        match value:
            case Tensor() | Batch():
                return "torch.Tensor"
            case LibraryObject(name=name):
                return name
            case Module() | Instance():
                kind = self.state.read(value.ref, CLASS_FIELD)
                is_own = isinstance(kind, Class)
                return f"{OWN}{type(value).__name__.lower()}" if is_own else value.name
            case ImportedName(name):
                return name
            case Symbolic():
                return f"{OWN}parameter"
            case _:
                return f"{OWN}{type(value).__name__.lower()}"


def _holds_tensor(run: Run, value: Value | None) -> bool:
    match value:
        case Tensor() | Batch() | Distribution():
            return True
        case Parameters():
            return True
        case Tuple(items):
            return any(_holds_tensor(run, one) for one in items)
        case Stream(item):
            return _holds_tensor(run, item)
        case ListOf(ref) | DictOf(ref):
            fields = run.state.fields(ref).values()
            return any(isinstance(one, Tensor | Batch) for one in fields)
        case _:
            return False
