"""Guesses: what stands in for a value that nobody knows.

A guess answers some of the questions below, and None to what it cannot tell; the first answer that
is not None counts.  Some come with the program, as the configuration states them; the others are
registered, and every walk asks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeVar

import libcst as cst

from devicelint.domain.names import FullName
from devicelint.domain.values import Module, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.knowledge import ModuleKnowledge

Answer = TypeVar("Answer")


class Guess:
    """Answers what it can tell; `run` is the `Run` that asks."""

    name: ClassVar[str]

    def begin(self, run: Any) -> None:
        """Write down what is there from the start, on every path."""

    def read(self, run: Any, node: cst.Name | cst.Attribute, value: Value) -> Value | None:
        """What a name stands for that is understood as `value`."""

    def bound(self, run: Any, target: cst.BaseExpression, value: Value) -> Value | None:
        """What a name is bound to that is given `value`."""

    def parameter(self, run: Any, parameter: cst.Param, value: Value) -> Value | None:
        """What a parameter holds that is given `value`."""

    def element(self, run: Any, loop: cst.For, value: Value) -> Value | None:
        """What a loop's target gets of a loader that yields `value`."""

    def callee(self, run: Any, func: cst.BaseExpression) -> Module | None:
        """The module that is called, before what stands for its name is asked."""

    def called(self, run: Any, callee: Value, arguments: Arguments, site: cst.Call) -> Value | None:
        """What a call gives of which nothing else is known."""

    def result(self, run: Any, site: cst.Call, value: Value) -> Value | None:
        """What a call gives that is understood as `value`."""

    def module(self, name: str) -> ModuleKnowledge | None:
        """What is known of the class of a module."""

    def stated_as(self, named: FullName) -> str | None:
        """Under which name a signature of something is stated."""


class Guesses:
    """The guesses of one walk, asked in their order."""

    def __init__(self, guesses: Iterable[Guess]) -> None:
        self._all = tuple(guesses)
        self._read = self._that_answer("read")
        self.know_names = bool(self._read)
        """Whether any of them says what names stand for."""
        self._bound = self._that_answer("bound")
        self._parameter = self._that_answer("parameter")
        self._element = self._that_answer("element")
        self._callee = self._that_answer("callee")
        self._called = self._that_answer("called")
        self._result = self._that_answer("result")

    def _that_answer(self, question: str) -> tuple[Callable[..., Any], ...]:
        inherited = getattr(Guess, question)
        return tuple(
            getattr(guess, question)
            for guess in self._all
            if getattr(type(guess), question) is not inherited
        )

    def begin(self, run: Any) -> None:
        """Let each guess write down what is there from the start."""
        for guess in self._all:
            guess.begin(run)

    def read(self, run: Any, node: cst.Name | cst.Attribute, value: Value) -> Value:
        """What a name stands for that is understood as `value`."""
        for ask in self._read:
            found: Value | None = ask(run, node, value)
            if found is not None:
                return found
        return value

    def bound(self, run: Any, target: cst.BaseExpression, value: Value) -> Value:
        """What a name is bound to that is given `value`."""
        return _first(self._bound, run, target, value) or value if self._bound else value

    def parameter(self, run: Any, parameter: cst.Param, value: Value) -> Value:
        """What a parameter holds that is given `value`."""
        return _first(self._parameter, run, parameter, value) or value if self._parameter else value

    def element(self, run: Any, loop: cst.For, value: Value) -> Value:
        """What a loop's target gets of a loader that yields `value`."""
        return _first(self._element, run, loop, value) or value

    def callee(self, run: Any, func: cst.BaseExpression) -> Module | None:
        """The module that is called, before what stands for its name is asked."""
        return _first(self._callee, run, func) if self._callee else None

    def called(self, run: Any, callee: Value, arguments: Arguments, site: cst.Call) -> Value | None:
        """What a call gives of which nothing else is known."""
        return _first(self._called, run, callee, arguments, site)

    def result(self, run: Any, site: cst.Call, value: Value) -> Value:
        """What a call gives that is understood as `value`."""
        return _first(self._result, run, site, value) or value if self._result else value

    def module(self, name: str) -> ModuleKnowledge | None:
        """What is known of the class of a module."""
        return _first((guess.module for guess in self._all), name)

    def stated_as(self, named: FullName) -> str | None:
        """Under which name a signature of something is stated."""
        return _first((guess.stated_as for guess in self._all), named)


def _first(questions: Iterable[Callable[..., Answer | None]], *about: object) -> Answer | None:
    for ask in questions:
        found = ask(*about)
        if found is not None:
            return found
    return None


_REGISTERED: list[Guess] = []
Registered = TypeVar("Registered", bound=type[Guess])


def guess(kind: Registered) -> Registered:
    """Register a guess that every walk asks."""
    _REGISTERED.append(kind())
    return kind


def guesses_of(stated: Iterable[Guess]) -> Guesses:
    """Those that come with a program, and those that every walk asks."""
    return Guesses((*stated, *_REGISTERED))
