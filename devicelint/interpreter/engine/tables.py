"""Every way to teach the interpreter something: one table for each question that the walk asks.

A table is a decorator.  `@methods(Optimizer)` above a function says: what `value.name(…)` gives,
where the value is an `Optimizer`, is this function's answer.  The module that holds the function
only has to lie in one of the packages `python`, `torch` and `libraries`: all of these are
imported.  A key has one handler; a second one is refused.

What a handler is given stands in the type of its table, the `Run` first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import libcst as cst

from devicelint.domain.values import Value
from devicelint.interpreter.engine.arguments import Arguments

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

resolves: Table[type, Callable[[Any, Any], Value]] = Table("resolves")
"""What a name stands for that is bound to such a value: `(run, value)`."""
calls: Table[type, Callable[[Any, Any, Arguments, cst.Call], Value]] = Table("calls")
"""What `value(…)` gives: `(run, callee, arguments, site)`."""
methods: Table[type, Callable[[Any, Any, str, cst.Call], Value]] = Table("methods")
"""What `value.name(…)` gives: `(run, receiver, name, node)`."""
attributes: Table[type, Callable[[Any, Any, str, cst.Attribute], Value]] = Table("attributes")
"""What `value.name` gives: `(run, value, name, node)`."""

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
