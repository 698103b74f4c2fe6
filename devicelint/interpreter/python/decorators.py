"""What a decorator makes of a function or a class."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    Bound,
    Class,
    Flag,
    Function,
    HostValue,
    ImportedName,
    Instance,
    Partial,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.functions import call_function

_KEEPING = frozenset(
    "abc atexit builtins contextlib dataclasses functools ignite line_profiler pytest torch typing "
    "typing_extensions unittest".split()
)
"""Packages whose decorators leave a function with the arguments and results that it has."""
_DERIVING = "grad grad_and_value hessian jacfwd jacrev vmap"
_CHANGING = frozenset(
    {"functools.partial", "torch.vmap", *(f"torch.func.{name}" for name in _DERIVING.split())}
)
"""Those of their functions that make another one of it."""


def decorated(run: Run, node: cst.FunctionDef, function: Function) -> Value:
    """The value of a function's name: what the decorators make of it, innermost first."""
    value: Value = function
    for decorator in reversed(node.decorators):
        value = _decorate(run, decorator.decorator, value)
    return value


def decorated_class(run: Run, node: cst.ClassDef, cls: Class) -> Class:
    """The value of a class's name: a decorator of the file may put the class into a table."""
    for decorator in reversed(node.decorators):
        made = _decorate(run, decorator.decorator, cls)
        cls = made if isinstance(made, Class) else cls
    return cls


def _decorate(run: Run, named: cst.BaseExpression, value: Value) -> Value:
    if _keeps(run, named):
        return value
    with run.muted():
        wrapper = run.evaluate(named)
    arguments = Arguments([Argument(named, value)])
    match wrapper:
        case Function():
            return call_function(run, wrapper, arguments, named)
        case Bound(Function() as method, receiver):
            return call_function(run, method, arguments, named, receiver=receiver)
        case Flag() | HostValue():
            return value
        case ImportedName() | Partial():
            return run.call(wrapper, arguments, cst.Call(named, [cst.Arg(named)]))
        case _:
            return Unknown(f"what {run.code_of(named)} makes of a function is not known")


def _keeps(run: Run, named: cst.BaseExpression) -> bool:
    """Whether a decorator belongs to a package that is known to leave functions as they are."""
    called = named
    while isinstance(called, (cst.Call, cst.Attribute)):
        value = run.evaluate(called) if isinstance(called, cst.Attribute) else None
        if isinstance(value, ImportedName):
            return _is_keeping(value)
        called = called.func if isinstance(called, cst.Call) else called.value
    if not isinstance(called, cst.Name):
        return False
    root = run.lookup(called.value)
    if isinstance(root, ImportedName):
        return _is_keeping(root)
    is_own_property = isinstance(named, cst.Attribute) and named.attr.value in _OF_PROPERTIES
    return is_own_property and not isinstance(root, (Instance, Class, Symbolic))


def _is_keeping(name: ImportedName) -> bool:
    return name.name.partition(".")[0] in _KEEPING and name.name not in _CHANGING


_OF_PROPERTIES = frozenset({"setter", "getter", "deleter"})


_CALLABLE = (Function, Bound, Class, Partial)


@function("functools.lru_cache", "functools.cache")
def cache(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Called with a function, what gives the same as it does; else, what makes such a thing."""
    given = arguments.get(0, "user_function")
    if given is not None and isinstance(given.value, _CALLABLE):
        return given.value
    return Partial(ImportedName(name))


@function("functools.update_wrapper")
def update_wrapper(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The wrapper, with another name."""
    given = arguments.get(0, "wrapper")
    return Unknown("a wrapper of nothing") if given is None else given.value


@function("functools.wraps")
def wraps(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What gives a wrapper another name."""
    return Partial(ImportedName("functools.update_wrapper"))
