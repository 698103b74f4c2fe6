"""Python's own functions that iterate."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.join import join_known
from devicelint.domain.values import (
    HOST,
    Batch,
    Const,
    Dataset,
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
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers import (
    element_of,
    extend,
    is_filled,
    known_elements,
    loaded_at,
)


@function("builtins.enumerate")
def enumerate_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "iterable")
    if given is None:
        return Unknown("enumerate of nothing")
    element = Tuple((HOST, _element(run, given.value, given.site)))
    return Stream(element, is_filled(run, given.value))


@function("builtins.range")
def range_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Numbers: at least one where the bounds are written out so."""
    bounds = [one.value.value for one in arguments if isinstance(one.value, Const)]
    numbers = [bound for bound in bounds if isinstance(bound, int)]
    if len(numbers) != len(arguments.positional) or not 1 <= len(numbers) <= 2:
        return Stream(HOST)
    return Stream(HOST, filled=len(range(*numbers)) > 0)


def _element(run: Run, value: Value, site: object) -> Value:
    elements = known_elements(run, value)
    if elements and all(isinstance(one, Module) for one in elements):
        joined = elements[0]
        for one in elements[1:]:
            joined = join_known(joined, one)
        return joined
    return element_of(run, value, site)


@function("builtins.zip")
def zip_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if arguments.open:
        return _transposed(arguments)
    parts = [element_of(run, one.value, one.site) for one in arguments.positional]
    filled = all(is_filled(run, one.value) for one in arguments.positional)
    return Stream(Tuple(tuple(parts)), filled)


def _transposed(arguments: Arguments) -> Value:
    """`zip(*pairs)`: the first of each pair, and the second of each; a tuple, whatever it holds."""
    only = arguments.positional[0].value if len(arguments.positional) == 1 else None
    if isinstance(only, Tuple):
        return Tuple(tuple(Stream(item) for item in only.items))
    return Stream(Stream(Unknown("a zip of unknown length")))


@function(
    *("builtins.reversed builtins.sorted builtins.iter builtins.list builtins.tuple".split()),
    "builtins.set",
    "builtins.frozenset",
)
def same_elements(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "iterable")
    if given is None:
        if name in ("builtins.list", "builtins.set"):
            return ListOf(run.allocate(site), site)
        return Unknown(f"{name} of nothing")
    value = given.value
    if isinstance(value, (Tuple, ListOf, Dataset)) and name != "builtins.list":
        return value
    if name == "builtins.list":
        return _as_list(run, value, given.site, site)
    return value


def _as_list(run: Run, value: Value, place: object, site: cst.Call) -> Value:
    if isinstance(value, (Unknown, Symbolic, Parameters)):
        return value
    ref = run.allocate(site)
    for element in known_elements(run, value) or (element_of(run, value, place),):
        extend(run, ref, element)
    return ListOf(ref, site)


@function("builtins.next")
def next_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if not arguments.positional:
        return Unknown("next of nothing")
    value = arguments.positional[0].value
    if isinstance(value, Parameters) and not isinstance(value.module, Module):
        module = value.module
        if isinstance(module, Symbolic):
            return Symbolic(module.origin, module.parameter, module.since)
        return module
    return loaded_at(element_of(run, value, site), site)


@function("builtins.map")
def map_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if len(arguments.positional) < 2:
        return Unknown("map of nothing")
    function, *iterables = arguments.positional
    given = [Argument(one.site, element_of(run, one.value, one.site)) for one in iterables]
    return Stream(run.call(function.value, Arguments(given), site))


@function("builtins.filter")
def filter_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return arguments.positional[1].value if len(arguments.positional) > 1 else Unknown("filter")


@function("builtins.sum")
def sum_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if not arguments.positional:
        return HOST
    given = arguments.positional[0]
    element = element_of(run, given.value, given.site)
    if isinstance(element, (Tensor, Batch)):
        return element
    return HOST if element == HOST else Unknown("a sum of something unknown")


@function("builtins.min", "builtins.max")
def extreme(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """One of what is given, or of the elements of the one that is given."""
    given = list(arguments.positional)
    if len(given) == 1:
        given = [Argument(given[0].site, element_of(run, given[0].value, given[0].site))]
    values = [argument.value for argument in given]
    if all(isinstance(value, (Const, type(HOST))) for value in values):
        return HOST
    if not given or not all(isinstance(value, (Tensor, Batch)) for value in values):
        return Unknown(name)
    chosen = values[0]
    for value in values[1:]:
        chosen = join_known(chosen, value)
    return chosen
