"""Libraries with little to know of: environments of reinforcement learning, progress bars."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.join import join_known
from devicelint.domain.values import (
    ARRAY,
    HOST,
    Dataset,
    ListOf,
    Loader,
    Stream,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import library_call
from devicelint.interpreter.python.containers.contents import element_of, is_filled
from devicelint.interpreter.python.iteration.functions import enumerate_, same_elements, zip_

_LENGTHS = (4, 5)
"""How many parts a step has: the newer ones tell `terminated` and `truncated` apart."""


@library_call("Observed")
def observed(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`env.reset()`: an observation, or, as whoever unpacks it knows, what comes beside it."""
    return Tuple((ARRAY, HOST)) if _names(run, site) == len(("observation", "info")) else ARRAY


@library_call("ObservedBeside")
def observed_beside(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    return Tuple((ARRAY, HOST))


@library_call("Stepped")
def stepped(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`env.step(action)`: an observation, a reward, and whether it is over."""
    names = _names(run, site)
    length = names if names in _LENGTHS else _LENGTHS[-1]
    return Tuple((ARRAY, *(HOST,) * (length - 1)))


def _names(run: Run, site: cst.Call) -> int:
    """How many names a call's result is unpacked into here; 0 where it is not."""
    statement = run.frame.statement
    if not isinstance(statement, cst.Assign) or statement.value is not site:
        return 0
    target = statement.targets[0].target
    return len(target.elements) if isinstance(target, cst.Tuple) else 0


_ITERATED = (Loader, Dataset, Stream, ListOf, Tuple)


@library_call("Elements")
def elements(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    return same_elements(run, "", arguments, site)


@library_call("Enumerated")
def enumerated(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    return enumerate_(run, "", arguments, site)


@library_call("Zipped")
def zipped(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    return zip_(run, "", arguments, site)


@library_call("Chained")
def chained(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """The elements of one after those of another."""
    given = arguments.positional
    if not given or not all(isinstance(one.value, _ITERATED) for one in given):
        return same_elements(run, "", arguments, site)
    joined = element_of(run, given[0].value, given[0].site)
    for one in given[1:]:
        joined = join_known(joined, element_of(run, one.value, one.site))
    return Stream(joined, any(is_filled(run, one.value) for one in given))


@library_call("Split")
def split(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`tee(loader)`: the same elements twice."""
    if len(arguments.positional) != 1:
        return Unknown("any number of copies")
    return Tuple((arguments.positional[0].value,) * 2)
