"""`itertools`: what yields the elements of others."""

from __future__ import annotations

import itertools

import libcst as cst

from devicelint.domain.values import Const, Stream, Tuple, Unknown, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.contents import (
    element_of,
    is_filled,
    joined_elements,
    known_elements,
    streamed,
)


@function("itertools.chain")
def chain(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The elements of one after those of another."""
    if arguments.open or not arguments.positional:
        return Unknown("a chain of something unknown")
    return _chained(run, arguments.positional)


@function("itertools.chain.from_iterable")
def chain_all(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The elements of the elements."""
    given = arguments.get(0, "iterable")
    if given is None:
        return Unknown("a chain of nothing")
    parts = known_elements(run, given.value)
    if parts is None:
        parts = (element_of(run, given.value, given.site),)
    return _chained(run, [Argument(given.site, one) for one in parts])


def _chained(run: Run, parts: list[Argument]) -> Value:
    held = [known_elements(run, one.value) for one in parts]
    known = [one for one in held if one is not None]
    if len(known) == len(held):
        return streamed(run, tuple(one for elements in known for one in elements))
    element = joined_elements(run, [element_of(run, one.value, one.site) for one in parts])
    return Stream(element, any(is_filled(run, one.value) for one in parts))


@function("itertools.cycle", "itertools.islice")
def some_of(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The first elements, or all of them again and again."""
    if not arguments.positional:
        return Unknown(f"{name} of nothing")
    given, *bounds = arguments.positional
    elements = known_elements(run, given.value)
    end = bounds[0].value if len(bounds) == 1 else None
    if elements is not None and isinstance(end, Const) and isinstance(end.value, int):
        return streamed(run, elements[: max(0, end.value)])
    element = element_of(run, given.value, given.site)
    return Stream(element, name.endswith("cycle") and is_filled(run, given.value))


@function("itertools.repeat")
def repeat(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The same, again and again."""
    given = arguments.get(0, "object")
    return Unknown(name) if given is None else Stream(given.value, filled=True)


@function("itertools.pairwise")
def pairwise(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Each element with the next one."""
    given = arguments.get(0, "iterable")
    if given is None:
        return Unknown(name)
    elements = known_elements(run, given.value)
    if elements is None:
        one = element_of(run, given.value, given.site)
        return Stream(Tuple((one, one)))
    pairs = itertools.pairwise(elements)
    return streamed(run, tuple(Tuple(pair) for pair in pairs))


_GROUPING = ("combinations", "combinations_with_replacement", "permutations")
_MOST_IN_A_GROUP = 4


@function(*(f"itertools.{name}" for name in _GROUPING))
def groups(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Some elements at a time, as many as is said: each of them is one of the same."""
    given, size = arguments.get(0, "iterable"), arguments.get(1, "r")
    number = size.value.value if size is not None and isinstance(size.value, Const) else None
    if given is None or type(number) is not int or not 0 < number <= _MOST_IN_A_GROUP:
        return Unknown(f"{name} of an unknown number")
    element = element_of(run, given.value, given.site)
    return Stream(Tuple((element,) * number), is_filled(run, given.value))


@function("itertools.accumulate", "itertools.takewhile", "itertools.dropwhile")
def some_elements(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The elements as long as they pass; running sums lie where the elements do."""
    is_sum = name.endswith("accumulate")
    if len(arguments.positional) != (1 if is_sum else 2) or arguments.keywords:
        return Unknown(name)
    given = arguments.positional[0 if is_sum else 1]
    return Stream(element_of(run, given.value, given.site))
