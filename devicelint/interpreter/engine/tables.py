"""Every way to teach the interpreter something: one table for each question that the walk asks.

A table is a decorator.  `@methods(Checkpoint)` above a function says: what `value.name(…)` gives,
where the value is a `Checkpoint`, is this function's answer.  The module that holds the function
only has to lie in one of the packages `python`, `torch` and `libraries`: all of these are
imported.  A key has one handler; a second one is refused.

What a handler is given stands in the type of its table, the `Run` first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import Class, Instance, Module, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments

Key = TypeVar("Key")
Handler = TypeVar("Handler", bound=Callable[..., Any])


class Table(dict[Key, Handler]):
    """The handlers of one question by their keys, and the decorator that registers them."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __call__(self, *keys: Key) -> Callable[[Handler], Handler]:
        """Register a handler for some keys; raises `TypeError` where a key has one already."""

        def register(handler: Handler) -> Handler:
            for key in keys:
                self[key] = handler
            return handler

        return register

    def __setitem__(self, key: Key, handler: Handler) -> None:
        """Give a key its handler."""
        if key in self:
            shown = key.__name__ if isinstance(key, type) else repr(key)
            both = f"{_place_of(self[key])} and {_place_of(handler)}"
            raise TypeError(f"two handlers for {self.name}({shown}): {both}")
        super().__setitem__(key, handler)


def _place_of(handler: Callable[..., Any]) -> str:
    return f"{handler.__module__}.{handler.__qualname__}"


# -- by the kind of node -----------------------------------------------------------------------

evaluates: Table[type[cst.CSTNode], Callable[[Any, Any], Value]] = Table("evaluates")
"""What an expression is: `(run, node)`."""
executes: Table[type[cst.CSTNode], Callable[[Any, Any], None]] = Table("executes")
"""What a statement does to the state: `(run, node)`."""

# -- by the kind of value ----------------------------------------------------------------------

settles: Table[type, Callable[[Any, Any, cst.BaseExpression], Value]] = Table("settles")
"""What an expression gives whose value may lie nobody knows where: `(run, value, node)`."""
resolves: Table[type, Callable[[Any, Any], Value]] = Table("resolves")
"""What a name stands for that is bound to such a value: `(run, value)`."""
calls: Table[type, Callable[[Any, Any, Arguments, cst.Call], Value]] = Table("calls")
"""What `value(…)` gives: `(run, callee, arguments, site)`."""
methods: Table[type, Callable[[Any, Any, str, cst.Call], Value]] = Table("methods")
"""What `value.name(…)` gives: `(run, receiver, name, node)`."""
attributes: Table[type, Callable[[Any, Any, str, cst.Attribute], Value]] = Table("attributes")
"""What `value.name` gives: `(run, value, name, node)`."""

elements: Table[type, Callable[[Any, Any, Site], Value]] = Table("elements")
"""What iterating over a value gives, all elements joined: `(run, value, site)`."""
items: Table[type, Callable[[Any, Any, cst.Subscript], Value]] = Table("items")
"""What `value[key]` gives: `(run, value, node)`; the handler evaluates the key."""
sets_item: Table[type, Callable[[Any, Any, Value, cst.Subscript, cst.BaseExpression], None]] = (
    Table("sets_item")
)
"""What `owner[key] = value` does: `(run, owner, value, target, site)`, `site` gave the value."""
sets_attribute: Table[
    type, Callable[[Any, Any, Value, cst.Attribute, cst.BaseExpression], None]
] = Table("sets_attribute")
"""What `owner.name = value` does: `(run, owner, value, target, site)`, `site` gave the value."""
sets_by_name: Table[type, Callable[[Any, Any, str | None, Value, cst.Call], None]] = Table(
    "sets_by_name"
)
"""What `setattr(owner, name, value)` does: `(run, owner, name, value, node)`.

The name is None where the code does not tell it.
"""
operates: Table[type, Callable[[Any, cst.CSTNode, str, Argument, Argument], Value]] = Table(
    "operates"
)
"""What an operator gives: `(run, node, symbol, left, right)`, by the left operand or the right."""
operates_in_place: Table[type, Callable[[Any, cst.AugAssign, str, Argument, Argument], Value]] = (
    Table("operates_in_place")
)
"""What `left += right` leaves in the left operand: `(run, node, symbol, left, right)`."""
enters: Table[type, Callable[[Any, Any, cst.WithItem], AbstractContextManager[Value]]] = Table(
    "enters"
)
"""What `with value as name` binds, and what holds meanwhile: `(run, value, item)`."""
spreads: Table[type, Callable[[Any, Arguments, Any, cst.BaseExpression], None]] = Table("spreads")
"""What `f(**value)` adds to the arguments: `(run, arguments, value, site)`."""
passes: Table[type, Callable[[Any, Any, cst.Call], None]] = Table("passes")
"""What happens to a value that is an argument of a call: `(run, value, node)`."""
begins: Table[type, Callable[[Any, Any, Class | None, Arguments, cst.Call], None]] = Table("begins")
"""What `super().__init__(…)` does where no base in a file defines it.

Called with `(run, object, class, arguments, node)`.
"""

inherited: Table[type, Callable[[Any, Any, str, Arguments, cst.Call], Value]] = Table("inherited")
"""What `super().name(…)` gives where no base in a file defines it.

Called with `(run, object, name, arguments, node)`.
"""

# -- by the base of a class -------------------------------------------------------------------

Made = Module | Instance

instantiates: Table[
    str, Callable[[Any, Class, Arguments, cst.CSTNode], AbstractContextManager[Made]]
] = Table("instantiates")
"""How an object of a class of the file is made: `(run, class, arguments, place)`.

What the context manager gives is the object before its `__init__`; it ends after that.
"""
stands_alone: Table[str, Callable[[Any, Class, Callable[[Arguments], Made]], Made]] = Table(
    "stands_alone"
)
"""How an object is made that nobody makes here, for its methods to be walked.

Called with `(run, class, make)`, where `make` is given what `__init__` is given.
"""

# -- by name -----------------------------------------------------------------------------------

NamedHandler = Callable[[Any, str, Arguments, cst.Call], Value]
LibraryHandler = Callable[[Any, Any, Arguments, cst.Call], Value]

function: Table[str, NamedHandler] = Table("function")
"""What calling something imported gives, by its full name: `(run, name, arguments, site)`."""
module_method: Table[str, LibraryHandler] = Table("module_method")
"""What a method of `nn.Module` itself gives: `(run, module, arguments, site)`."""
tensor_method: Table[str, Callable[[Any, Any, str, Arguments, cst.Call], Value]] = Table(
    "tensor_method"
)
"""What a tensor's method gives that a signature cannot express.

Called with `(run, receiver, name, arguments, site)`.
"""
library_call: Table[str, LibraryHandler] = Table("library_call")
"""What a function or method gives that catalogues mark: `(run, receiver, arguments, site)`.

Of a function, the receiver is the function itself.
"""
library_class: Table[str, NamedHandler] = Table("library_class")
"""What a class makes, by the kind that catalogues give it: `(run, name, arguments, site)`."""


method_of_unknown: Table[str, Callable[[Any, Value, cst.Call], Value | None]] = Table(
    "method_of_unknown"
)
"""What a method gives by its name alone, where nothing is known of the value.

Called with `(run, receiver, node)`; None where it is not known either.
"""
method_of_anything: Table[str, Callable[[Any, cst.Call, Arguments], None]] = Table(
    "method_of_anything"
)
"""What the name of a method shows of its arguments, on whatever value: `(run, node, arguments)`."""


# -- names ---------------------------------------------------------------------------------------

BUILTIN_SCOPE: dict[str, Value] = {}
"""What Python itself binds; filled by `builtins`."""
