"""Functions that torch makes of functions: `vmap`, `grad`, `jacrev`, `vjp`, `jvp`, `linearize`.

What they give is where the function itself works: a call of what is made walks the function that it
was made of.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat

import libcst as cst

from devicelint.domain.values import (
    NONE,
    Batch,
    Const,
    ImportedName,
    Partial,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.contents import known_elements

_OF_EACH = "torch.vmap(func)"


@function("torch.vmap", "torch.func.vmap", "functorch.vmap")
def for_each(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A function that takes one dimension more than the one that is given."""
    given = arguments.get(0, "func")
    if given is None:
        return Unknown(f"{name} of nothing")
    along = (arguments.get(1, "in_dims"), arguments.get(2, "out_dims"))
    kept = tuple(Const(0) if one is None else one.value for one in along)
    return Partial(ImportedName(_OF_EACH), (given.value, *kept), sites=(given.site, site, site))


@function(_OF_EACH)
def of_each(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The function is called with a part of each tensor, and its results are put together."""
    called, along, out, *given = arguments.positional
    dims = along.value.items if isinstance(along.value, Tuple) else repeat(along.value)
    parts = [
        one if dim == NONE else Argument(one.site, _part_of(one.value))
        for one, dim in zip(given, dims, strict=False)
    ]
    named = {key: Argument(at, _part_of(one)) for key, (at, one) in arguments.keywords.items()}
    inner = replace(arguments, positional=parts, keywords=named)
    made = run.call(called.value, inner, site)
    return _together(made, is_sure=out.value == Const(0))


def _part_of(value: Value) -> Value:
    match value:
        case Tensor(scalar=False):
            least = max(0, value.least - 1)
            return replace(value, scalar=False if least else None, least=least, home=None)
        case Batch():
            return Tensor(value.device, value.since)
        case Tuple(items):
            return Tuple(tuple(map(_part_of, items)))
        case _:
            return value


def _together(value: Value, *, is_sure: bool) -> Value:
    match value:
        case Tensor():
            return replace(value, scalar=False if is_sure else None, home=None)
        case Tuple(items):
            return Tuple(tuple(_together(one, is_sure=is_sure) for one in items))
        case _:
            return value


# -- derivatives -------------------------------------------------------------------------------

_GRADIENTS = "torch.func.grad(func)"
_GRADIENTS_AND_VALUE = "torch.func.grad_and_value(func)"
_JACOBIAN = "torch.func.jacrev(func)"
_MADE = {
    "grad": _GRADIENTS,
    "grad_and_value": _GRADIENTS_AND_VALUE,
    "jacrev": _JACOBIAN,
    "jacfwd": _JACOBIAN,
    "hessian": _JACOBIAN,
}
_PULLED_BACK = "torch.func.vjp(func)[1]"
_PUSHED_FORWARD = "torch.func.linearize(func)[1]"


@function(*(f"{package}.{name}" for package in ("torch.func", "functorch") for name in _MADE))
def derived(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A function that takes what the one that is given takes, and gives its derivatives."""
    called = arguments.get(0, "func")
    if called is None:
        return Unknown(f"{name} of nothing")
    by, aux = arguments.get(1, "argnums"), arguments.keywords.get("has_aux")
    kept = (called.value, Const(0) if by is None else by.value, _is_set(aux))
    made = ImportedName(_MADE[name.rpartition(".")[2]])
    return Partial(made, kept, sites=(called.site, site, site))


@function(_GRADIENTS, _GRADIENTS_AND_VALUE)
def gradients(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A gradient of each part of what it derives by, where that is; the value beside it, or not."""
    is_value_given = name == _GRADIENTS_AND_VALUE
    called, by, aux, *given = arguments.positional
    made = run.call(called.value, replace(arguments, positional=given), site)
    derived_by = _chosen(by.value, given)
    if aux.value == NONE:
        return Tuple((derived_by, made)) if is_value_given else derived_by
    value, rest = _value_and_rest(made)
    return Tuple((derived_by, Tuple((value, rest)) if is_value_given else rest))


@function(_JACOBIAN)
def jacobian(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """One tensor for each part of the result and of what it derives by."""
    called, by, aux, *given = arguments.positional
    made = run.call(called.value, replace(arguments, positional=given), site)
    value, rest = (made, None) if aux.value == NONE else _value_and_rest(made)
    parts = _chosen(by.value, given)
    is_one = isinstance(parts, Tensor) or isinstance(value, Unknown)
    if not is_one and not isinstance(value, Tensor):
        return Unknown("derivatives of several results by several parts")
    derivatives = _unranked(value if is_one else parts)
    return derivatives if rest is None else Tuple((derivatives, rest))


@function("torch.func.vjp", "functorch.vjp")
def with_products(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What the function gives, and a function that brings gradients back to its arguments."""
    called = arguments.get(0, "func")
    if called is None:
        return Unknown("no function is given to vjp()")
    given = arguments.positional[1:]
    made = run.call(called.value, Arguments(given, {}, arguments.open), site)
    parts: Value = Unknown("arguments of the caller's choice")
    if not arguments.open:
        parts = Tuple(tuple(one.value for one in given))
    back = Partial(ImportedName(_PULLED_BACK), (parts,), sites=(site,))
    if _is_set(arguments.keywords.get("has_aux")) == NONE:
        return Tuple((made, back))
    value, rest = _value_and_rest(made)
    return Tuple((value, back, rest))


@function("torch.func.jvp", "functorch.jvp")
def with_tangents(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What the function gives, and its derivative in a direction, which is there, too."""
    made = _called_with(run, arguments, site)
    if _is_set(arguments.keywords.get("has_aux")) == NONE:
        return Tuple((made, _unranked(made)))
    value, rest = _value_and_rest(made)
    return Tuple((value, _unranked(value), rest))


@function("torch.func.linearize")
def linearized(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What the function gives, and a function that gives its derivative in a direction."""
    called = arguments.get(0, "func")
    if called is None:
        return Unknown("no function is given to linearize()")
    made = run.call(called.value, Arguments(arguments.positional[1:], {}, arguments.open), site)
    return Tuple((made, Partial(ImportedName(_PUSHED_FORWARD), (made,), sites=(site,))))


@function(_PULLED_BACK, _PUSHED_FORWARD)
def brought(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Derivatives, where the values are that they belong to."""
    return _unranked(arguments.positional[0].value)


@function("torch.func.functionalize", "functorch.functionalize")
def without_changes(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The same function, which changes nothing in place."""
    called = arguments.get(0, "func")
    return Unknown(f"{name} of nothing") if called is None else called.value


def _called_with(run: Run, arguments: Arguments, site: cst.Call) -> Value:
    """What a function gives with the arguments that a tuple holds."""
    called, primals = arguments.get(0, "func"), arguments.get(1, "primals")
    held = None if primals is None else known_elements(run, primals.value)
    if called is None or primals is None or held is None:
        return Unknown("arguments that are not seen")
    given = [Argument(primals.site, one) for one in held]
    return run.call(called.value, Arguments(given), site)


def _is_set(given: Argument | None) -> Value:
    """None where nothing, or False, is said: what a function gives is its result alone."""
    return NONE if given is None or given.value == Const(False) else Const(True)


def _chosen(by: Value, given: list[Argument]) -> Value:
    """The arguments by which is derived: one, or several in a tuple."""
    if isinstance(by, Tuple):
        return Tuple(tuple(_chosen(one, given) for one in by.items))
    at = by.value if isinstance(by, Const) else None
    if isinstance(at, int) and -len(given) <= at < len(given):
        return _unranked(given[at].value)
    return Unknown("by which argument is derived is not seen")


def _value_and_rest(made: Value) -> tuple[Value, Value]:
    if isinstance(made, Tuple) and len(made.items) == 2:
        return made.items[0], made.items[1]
    return Unknown("the value of a pair"), Unknown("what comes beside a value")


def _unranked(value: Value) -> Value:
    """The same tensors as plain ones, of whatever rank."""
    match value:
        case Tensor():
            return replace(value, scalar=None, role="", least=0, home=None)
        case Tuple(items):
            return Tuple(tuple(map(_unranked, items)))
        case _:
            return value
