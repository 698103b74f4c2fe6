"""Python's own functions that iterate."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.alternatives import either_known
from devicelint.domain.values import (
    HOST,
    TRUE,
    Batch,
    Const,
    DictOf,
    HostValue,
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
from devicelint.interpreter.python.containers.contents import (
    Counted,
    element_of,
    extend,
    is_counted,
    is_filled,
    known_elements,
    loaded_at,
    new_list,
    streamed,
)
from devicelint.interpreter.python.containers.fields import GROWN, LENGTH
from devicelint.interpreter.python.containers.lists import forget_order, pop
from devicelint.interpreter.python.iteration.told_apart import iteration
from devicelint.interpreter.python.operators import operate
from devicelint.interpreter.python.special_methods import iterated


@function("builtins.enumerate")
def enumerate_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "iterable")
    if given is None:
        return Unknown("enumerate of nothing")
    start = arguments.get(1, "start")
    begin = 0 if start is None else _whole(start.value)
    elements = known_elements(run, given.value)
    if elements and begin is not None:
        return streamed(run, tuple(Tuple((Const(begin + i), x)) for i, x in enumerate(elements)))
    element = element_of(run, given.value, given.site)
    first = None if begin is None else Tuple((Const(begin), element))
    return Stream(Tuple((HOST, element)), is_filled(run, given.value), first=first)


def _whole(value: Value) -> int | None:
    """The number that a value is for sure."""
    return value.value if isinstance(value, Const) and type(value.value) is int else None


_MOST_NUMBERS = 8


@function("builtins.range")
def range_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Numbers: one by one where there are few, and the first of them where that is known."""
    bounds = [_whole(one.value) for one in arguments.positional]
    numbers = [bound for bound in bounds if bound is not None]
    if len(bounds) == 1 and not numbers:
        return Stream(HOST, first=Const(0))
    if len(bounds) == 2 and bounds[0] is not None and bounds[1] is None:
        return Stream(HOST, first=Const(bounds[0]))
    if len(numbers) != len(arguments.positional) or not 1 <= len(numbers) <= 3 or 0 in numbers[2:]:
        return Stream(HOST)
    all_of_them = range(*numbers)
    if len(all_of_them) > _MOST_NUMBERS:
        return Stream(HOST, filled=True, first=Const(all_of_them[0]))
    if not all_of_them:
        return Tuple(())
    return Stream(HOST, filled=True, parts=tuple(map(Const, all_of_them)))


@function("builtins.len")
def len_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A number, where what is counted is known and nobody else can have made it longer."""
    given = arguments.get(0, "obj")
    if given is None or not isinstance(given.value, (ListOf, DictOf, Tuple)):
        return HOST
    elements = known_elements(run, given.value)
    if elements is None or not is_counted(run, given.value):
        return HOST
    if not isinstance(given.value, Tuple):
        if not _is_local(run, given.site):
            return HOST
        run.notes(Counted).times += 1
    return Const(len(elements))


def _is_local(run: Run, site: object) -> bool:
    """Whether a place is a name of this call: what an object keeps, its other methods fill."""
    return isinstance(site, cst.Name) and run.state.read(run.frame.ref, site.value) is not None


@function("builtins.zip")
def zip_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if arguments.open:
        return _transposed(run, arguments)
    held = [known_elements(run, one.value) for one in arguments.positional]
    known = [one for one in held if one is not None]
    if known and len(known) == len(held):
        rows = [Tuple(row) for row in zip(*known, strict=False)]
        if arguments.uncounted:
            return streamed(run, tuple(streamed(run, row.items) for row in rows))
        return streamed(run, tuple(rows))
    parts = [element_of(run, one.value, one.site) for one in arguments.positional]
    filled = all(is_filled(run, one.value) for one in arguments.positional)
    return Stream(Tuple(tuple(parts)), filled)


def _transposed(run: Run, arguments: Arguments) -> Value:
    """`zip(*pairs)`: the first of each pair, and the second of each."""
    only = arguments.positional[0] if len(arguments.positional) == 1 else None
    if only is not None and isinstance(only.value, Tuple):
        return Tuple(tuple(Stream(item) for item in only.value.items))
    if only is not None and isinstance(only.value, (Batch, Unknown)):
        part = element_of(run, only.value, only.site)
        return Stream(Stream(part, filled=True), filled=True)
    return Stream(Stream(Unknown("a zip of unknown length")))


@function(
    *("builtins.iter builtins.tuple builtins.list builtins.set builtins.frozenset".split()),
    "torch.Size",
)
def same_elements(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "iterable")
    is_list = name in ("builtins.list", "builtins.set")
    if given is None:
        return new_list(run, site, ()) if is_list else Tuple(())
    value = iterated(run, given.value)
    if is_list:
        return _as_list(run, value, given.site, site)
    elements = known_elements(run, value)
    if name == "builtins.iter":
        return _list_like(run, value, elements, site) if elements else value
    if elements is not None and is_counted(run, value):
        return Tuple(elements)
    return value


@function("builtins.reversed", "builtins.sorted")
def reordered(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The same elements in another order, which is known where they are turned."""
    given = arguments.get(0, "iterable")
    if given is None:
        return Unknown(f"{name} of nothing")
    elements = known_elements(run, given.value)
    if elements is None:
        return given.value
    if name == "builtins.reversed":
        return streamed(run, tuple(reversed(elements)))
    if len(arguments.positional) == 1 and not arguments.keywords and _are_texts(elements):
        return new_list(run, site, sorted(elements, key=lambda one: str(getattr(one, "value", ""))))
    made = new_list(run, site, elements)
    forget_order(run, made.ref)
    return made


def _are_texts(elements: tuple[Value, ...]) -> bool:
    return all(isinstance(one, Const) and isinstance(one.value, str) for one in elements)


def _list_like(run: Run, value: Value, elements: tuple[Value, ...], site: cst.Call) -> Value:
    """A new list of the elements of a value, as long as that is."""
    counted = is_counted(run, value)
    made = new_list(run, site, elements)
    if not counted:
        run.state.write(made.ref, GROWN, TRUE)
    return made


def _as_list(run: Run, value: Value, place: object, site: cst.Call) -> Value:
    if isinstance(value, (Unknown, Symbolic, Parameters)):
        return value
    elements = known_elements(run, value)
    if elements is not None:
        return _list_like(run, value, elements, site)
    element = element_of(run, value, place)
    made = ListOf(run.allocate(site), site)
    extend(run, made.ref, element)
    run.state.write(made.ref, LENGTH, HOST)
    return made


@function("builtins.next")
def next_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if not arguments.positional:
        return Unknown("next of nothing")
    value = arguments.positional[0].value
    if isinstance(value, ListOf) and known_elements(run, value):
        return loaded_at(pop(run, value, Const(0)), site)
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
    held = [known_elements(run, one.value) for one in iterables]
    known = [one for one in held if one is not None]
    if len(known) < len(held) or not 0 < min(map(len, known)) <= _MOST_NUMBERS:
        given = [Argument(one.site, element_of(run, one.value, one.site)) for one in iterables]
        return Stream(run.call(function.value, Arguments(given), site))
    sites = [one.site for one in iterables]
    rows = [list(map(Argument, sites, row)) for row in zip(*known, strict=False)]
    made = []
    for number, row in enumerate(rows):
        with iteration(run, number, len(rows)):
            made.append(run.call(function.value, Arguments(row), site))
    return streamed(run, tuple(made))


@function("builtins.filter")
def filter_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    return arguments.positional[1].value if len(arguments.positional) > 1 else Unknown("filter")


@function("functools.reduce")
def reduce_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What a function makes of the elements, two at a time."""
    if len(arguments.positional) < 2:
        return Unknown("reduce of nothing")
    function, over, *begin = arguments.positional
    elements = known_elements(run, over.value)
    if elements is None:
        elements = (element_of(run, over.value, over.site),) * 2
    parts = [*(one.value for one in begin), *elements]
    result = parts[0] if parts else Unknown("reduce of an empty sequence")
    for one in parts[1:]:
        given = Arguments([Argument(over.site, result), Argument(over.site, one)])
        result = run.call(function.value, given, site)
    return result


@function("builtins.sum")
def sum_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The elements, added one after the other."""
    if not arguments.positional:
        return HOST
    given = arguments.positional[0]
    begin = arguments.get(1, "start")
    over = iterated(run, given.value)
    elements = known_elements(run, over)
    if elements is None:
        elements = (element_of(run, over, given.site),)
    total = Argument(given.site, HOST) if begin is None else begin
    for one in elements:
        added = operate(run, site, "+", total, Argument(given.site, one))
        total = Argument(given.site, added)
    return total.value


@function("builtins.min", "builtins.max")
def extreme(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """One of what is given, or of the elements of the one that is given."""
    given = list(arguments.positional)
    if len(given) == 1:
        given = [Argument(given[0].site, element_of(run, given[0].value, given[0].site))]
    values = [argument.value for argument in given]
    if all(isinstance(value, (Const, type(HOST))) for value in values):
        return HOST
    if not given or not all(isinstance(value, _COMPARED) for value in values):
        return Unknown(name)
    chosen = values[0]
    for value in values[1:]:
        chosen = either_known(chosen, value)
    return chosen


_COMPARED = (Tensor, Batch, Const, HostValue)
