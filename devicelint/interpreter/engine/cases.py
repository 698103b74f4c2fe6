"""A statement that reads a place with several values, walked once for each of them.

What a statement does is then decided for plain values alone, whatever it is: an operation, a call,
a condition.  Where a value makes it fail, as None does in arithmetic, the path ends, and what
follows knows that the value was another one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import libcst as cst

from devicelint.domain.alternatives import (
    EVERYWHERE,
    are_exclusive,
    cases_of,
    either_known,
    is_mixed,
    on_path,
    settled,
    spread,
)
from devicelint.domain.state import ITEM_PREFIXES, Place, State
from devicelint.domain.values import (
    NONE,
    Const,
    DictOf,
    Instance,
    ListOf,
    Module,
    OneOf,
    Path,
    Ref,
    Stream,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import children
from devicelint.interpreter.engine.program import Program

ABSENT = Const(None)
"""None as one of several values: what cannot be done with it ends the path.  Known by identity."""

MOST_AT_ONCE = 8
"""How often one statement is walked, for all combinations of its values."""


class _Walk(Protocol):
    """The walk, as far as it is needed here."""

    state: State
    frame: Frame
    program: Program
    moment: int
    cases: int


Read = tuple[str, str]
"""A name that a statement reads, and the attribute that it reads of that, or nothing."""

_HEADERS: dict[type[cst.CSTNode], str] = {
    cst.If: "test",
    cst.For: "iter",
    cst.Match: "subject",
    cst.Assign: "value",
    cst.AnnAssign: "value",
}
_WHOLE = frozenset({cst.Expr, cst.AugAssign, cst.Return, cst.Raise, cst.Assert})


def walk_cases(run: _Walk, statement: cst.CSTNode, walk: Callable[[Any, Any], None]) -> None:
    """Walk a statement, once for each of the values of a place that it reads."""
    names, reads = _reads_of(run, statement)
    if names.isdisjoint(run.state.told_apart) and not _are_in_containers(run.state.told_apart):
        walk(run, statement)
        return
    found = _first_of_several(run, reads)
    if found is None:
        walk(run, statement)
    else:
        _walk_each(run, statement, walk, *found)


@functools.lru_cache(maxsize=1_000)
def _are_in_containers(names: frozenset[str]) -> bool:
    return any(name[:1] in ITEM_PREFIXES for name in names)


def use(run: _Walk, value: Value) -> None:
    """Something is done with a value that None does not allow: where it is None, the path ends."""
    if value is ABSENT:
        run.state.dead = True


def each(run: _Walk, value: OneOf, ask: Callable[[Value], Value]) -> Value:
    """What asking each of several values gives; one for which it fails gives nothing."""
    before, was_dead = run.state, run.state.dead
    joined, reached, merged = None, EVERYWHERE, None
    for option, path in cases_of(value):
        run.state = before.fork()
        run.state.take(path)
        result = ask(ABSENT if option == NONE else option)
        if run.state.dead and not was_dead:
            continue
        joined = result if joined is None else either_known(joined, result, reached, path)
        reached = path if merged is None else EVERYWHERE
        if merged is None:
            merged = run.state
        else:
            merged.merge(run.state, apart=True)
    run.state = before if merged is None else merged
    run.state.dead, run.state.taken = was_dead or merged is None, before.taken
    return Unknown("no value of several allows that") if joined is None else joined


@contextmanager
def taking(run: _Walk, path: Path) -> Iterator[None]:
    """Walk with one of several values: what that shows holds on its path alone."""
    facts, met, taken = run.state.facts, run.state.met, run.state.taken
    run.state.take(path)
    yield
    run.state.facts, run.state.met, run.state.taken = facts, met, taken


def call_with_each(
    run: _Walk, several: OneOf, arguments: Arguments, call: Callable[[Arguments], Value]
) -> Value:
    """What a call gives with each of several values of an argument; too many are one."""
    if run.cases * len(several.options) > MOST_AT_ONCE:
        return call(_with_argument(arguments, several, settled(several)))
    run.cases *= len(several.options)
    result = each(run, several, lambda one: call(_with_argument(arguments, several, one)))
    run.cases //= len(several.options)
    return result


def mixed_among(arguments: Arguments) -> OneOf | None:
    """An argument of a call that is one of several values, if there is one."""
    for _, value in arguments.positional:
        if type(value) is OneOf and is_mixed(value):
            return value
    for _, value in arguments.keywords.values():
        if type(value) is OneOf and is_mixed(value):
            return value
    return None


def _with_argument(arguments: Arguments, several: Value, one: Value) -> Arguments:
    """The arguments of a call, with one of several values in the place of these."""

    def chosen(given: Argument) -> Argument:
        return Argument(given.site, one) if given.value is several else given

    named = {name: chosen(given) for name, given in arguments.keywords.items()}
    positional = [chosen(given) for given in arguments.positional]
    return replace(arguments, positional=positional, keywords=named)


def _walk_each(
    run: _Walk,
    statement: cst.CSTNode,
    walk: Callable[[Any, Any], None],
    place: Place,
    value: OneOf,
) -> None:
    held = run.state.read(*place)
    before, whole = run.state, _told_apart(run, statement, value)
    at_once, run.cases = run.cases, run.cases * len(whole.options)
    merged = None
    is_left = True
    for option, path in cases_of(whole):
        run.state = before.fork()
        run.state.take(path)
        chosen = ABSENT if option == NONE else option
        run.state.write(*place, chosen)
        walk_cases(run, statement, walk)
        is_left &= not run.state.dead and run.state.read(*place) is chosen
        if merged is None:
            merged = run.state
        else:
            merged.merge(run.state, apart=True)
    assert merged is not None
    run.state, run.cases = merged, at_once
    run.state.taken = before.taken
    if is_left:
        run.state.write(*place, held if isinstance(held, (Stream, Tuple)) else whole)


def _told_apart(run: _Walk, statement: cst.CSTNode, value: OneOf) -> OneOf:
    """The same alternatives, each on a path of its own, so that what comes of them keeps apart."""
    if are_exclusive(value):
        return value
    question = (statement, run.moment)
    paths = [path | {(question, number)} for number, (_, path) in enumerate(cases_of(value))]
    return OneOf(value.options, tuple(paths))


def _first_of_several(run: _Walk, reads: tuple[Read, ...]) -> tuple[Place, OneOf] | None:
    for place, found in _places(run, reads):
        value = spread(found)
        if type(value) is OneOf and is_mixed(value):
            here = on_path(value, run.state.facts)
            if not isinstance(here, OneOf):
                run.state.write(*place, here)
            elif run.cases * len(here.options) <= MOST_AT_ONCE:
                return place, here
    return None


def _places(run: _Walk, reads: tuple[Read, ...]) -> Iterator[tuple[Place, Value]]:
    for name, attribute in reads:
        found = run.state.find(run.frame.refs_of(name), name)
        if found is None:
            continue
        ref, value = found
        if not attribute:
            yield (ref, name), value
            if isinstance(value, (ListOf, DictOf)):
                yield from (((value.ref, at), one) for at, one in _items(run, value.ref))
        elif isinstance(value, (Module, Instance)):
            held = run.state.read(value.ref, attribute)
            if held is not None:
                yield (value.ref, attribute), held


def _items(run: _Walk, ref: Ref) -> list[tuple[str, Value]]:
    """What a list or a dictionary holds that is one of several values, by the name of its place."""
    fields = run.state.fields(ref).items()
    return [(at, one) for at, one in fields if type(one) is OneOf and at[:1] in ITEM_PREFIXES]


def _reads_of(run: _Walk, statement: cst.CSTNode) -> tuple[frozenset[str], tuple[Read, ...]]:
    known = run.program.reads.get(statement)
    if known is None:
        reads = tuple(dict.fromkeys(_read_by(statement)))
        names = frozenset(attribute or name for name, attribute in reads)
        known = run.program.reads[statement] = (names, reads)
    return known


def _read_by(statement: cst.CSTNode) -> Iterator[Read]:
    for part in _parts(statement):
        waiting = [part]
        while waiting:
            node = waiting.pop()
            if type(node) is cst.Name:
                yield node.value, ""
            elif type(node) is cst.Attribute:
                if isinstance(node.value, cst.Name):
                    yield node.value.value, node.attr.value
                waiting.append(node.value)
            else:
                waiting.extend([node.value] if type(node) is cst.Arg else children(node))


def _parts(statement: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What a statement itself evaluates, without the names that it binds and the blocks in it."""
    header = _HEADERS.get(type(statement))
    if header is not None:
        part = getattr(statement, header)
        if part is not None:
            yield part
    elif type(statement) in _WHOLE:
        yield statement
    elif isinstance(statement, cst.With):
        yield from (entry.item for entry in statement.items)
    for target in statement.targets if isinstance(statement, cst.Assign) else ():
        if isinstance(target.target, (cst.Attribute, cst.Subscript)):
            yield target.target.value
            yield from target.target.slice if isinstance(target.target, cst.Subscript) else ()
