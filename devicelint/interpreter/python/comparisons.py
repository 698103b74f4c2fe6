"""Comparisons: of tensors, of devices, of what is known and of what comes from outside."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devicelint.domain.devices import Agreement, Known, agreement
from devicelint.domain.events import DeviceCompared
from devicelint.domain.join import as_bool
from devicelint.domain.values import (
    HOST,
    NONE,
    Batch,
    Class,
    Const,
    Dataset,
    DeviceHandle,
    Flag,
    Function,
    HostValue,
    Instance,
    LibraryObject,
    Loader,
    Module,
    NotMovable,
    Partial,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import evaluates
from devicelint.interpreter.facts.device_words import names_device_type
from devicelint.interpreter.facts.mentions import names_in
from devicelint.interpreter.facts.tensor_parameters import absence_of
from devicelint.interpreter.python.containers.contents import known_elements
from devicelint.interpreter.python.operators import operate
from devicelint.interpreter.python.special_methods import overloaded
from devicelint.interpreter.python.type_tests import type_comparison

_TENSORS = (Tensor, Batch, Placed)
_OBJECTS = (
    *(*_TENSORS, Module, DeviceHandle, Function, Class, Partial),
    *(Instance, LibraryObject, Loader, Dataset, NotMovable),
)
"""What is something, and not None."""


@evaluates(cst.Comparison)
def comparison(run: Run, node: cst.Comparison) -> Value:
    of_type = type_comparison(run, node)
    if of_type is not None:
        return as_bool(of_type)
    left_site, left = node.left, run.evaluate(node.left)
    result: Value = HOST
    for target in node.comparisons:
        right = run.evaluate(target.comparator)
        result = _compare(run, node, target.operator, (left_site, left), (target.comparator, right))
        left_site, left = target.comparator, right
    return result if len(node.comparisons) == 1 else HOST


_COMPARE = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
}


_IDENTITY = frozenset({cst.Is, cst.IsNot})


def _compare(
    run: Run,
    node: cst.Comparison,
    operator: cst.BaseCompOp,
    left: tuple[cst.CSTNode, Value],
    right: tuple[cst.CSTNode, Value],
) -> Value:
    one, other = left[1], right[1]
    if type(operator) in _IDENTITY:
        return _identity(run, one, other, type(operator) is cst.IsNot)
    symbol = _COMPARE.get(type(operator))
    if symbol is None:
        symbol = "in" if isinstance(operator, cst.In) else "not in"
        return _membership(run, node, symbol, left, right)
    own = overloaded(run, node, symbol, Argument(*left), Argument(*right))
    if own is not None:
        return own
    if isinstance(one, _TENSORS) or isinstance(other, _TENSORS):
        return operate(run, node, symbol, Argument(*left), Argument(*right))
    if isinstance(one, DeviceHandle) or isinstance(other, DeviceHandle):
        return _compare_devices(run, node, symbol, left, right)
    if isinstance(one, Const) and isinstance(other, Const):
        return _compare_constants(symbol, one, other)
    for symbol_of, number, bound in ((symbol, one, other), (_MIRRORED[symbol], other, one)):
        known = _compare_bound(symbol_of, number, bound)
        if known is not None:
            return as_bool(known)
    if isinstance(one, Symbolic) and isinstance(other, Const):
        return Flag(f"{one.origin} {symbol} {run.code_of(right[0])}")
    if isinstance(one, (Symbolic, Flag)) or isinstance(other, (Symbolic, Flag)):
        return Flag(run.code_of(node))
    if any(isinstance(value, Unknown) for value in (one, other)) and not _is_text(one, other):
        return operate(run, node, symbol, Argument(*left), Argument(*right))
    return HOST


def _is_text(*values: Value) -> bool:
    """Whether a value is compared with a text, as no tensor is."""
    return any(isinstance(one, Const) and not isinstance(one.value, (int, float)) for one in values)


def _identity(run: Run, one: Value, other: Value, negated: bool) -> Value:
    if other == NONE:
        if isinstance(one, Symbolic):
            if _is_passed_unseen(one):
                return as_bool(negated)
            return Flag(f"{one.origin} is None", negated)
        if isinstance(one, Const):
            return as_bool((one == NONE) is not negated)
        if (absence := absence_of(run, one)) is not None:
            return Flag(absence, negated)
        if isinstance(one, _OBJECTS):
            return as_bool(negated)
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        # One object is on one device: where a choice is the CPU, nothing hangs on the answer.
        return as_bool(negated) if agreement(one.device, other.device) in _APART else HOST
    if isinstance(one, Const) and isinstance(other, Const) and isinstance(other.value, bool):
        return as_bool((one == other) is not negated)
    return HOST


_APART = (Agreement.DIFFERENT, Agreement.DIFFERENT_UNLESS_CHOSEN)


def _is_passed_unseen(value: Symbolic) -> bool:
    """Whether a call passes what nobody follows: it passes something, and not the default."""
    return bool(value.parameter) and value.since is None


def _membership(
    run: Run,
    node: cst.Comparison,
    symbol: str,
    left: tuple[cst.CSTNode, Value],
    right: tuple[cst.CSTNode, Value],
) -> Value:
    (one_site, one), (other_site, other) = left, right
    if isinstance(one, (Symbolic, Flag)) or isinstance(other, Symbolic):
        return Flag(run.code_of(node))
    if isinstance(one, Const) and isinstance(other, Const):
        return as_bool((str(one.value) in str(other.value)) is (symbol == "in"))
    if isinstance(one, Const) and isinstance(other, DeviceHandle) and other.is_object:
        _announce(run, DeviceCompared(node, other_site, one_site, str(one.value), symbol, True))
    elif isinstance(one, DeviceHandle) and one.is_object:
        known = known_elements(run, other) or ()
        if known and all(isinstance(e, Const) and isinstance(e.value, str) for e in known):
            _announce(run, DeviceCompared(node, one_site, other_site, _texts(known), symbol))
            return as_bool(symbol == "not in")
    return HOST


def _announce(run: Run, event: DeviceCompared) -> None:
    """Announce a comparison, unless callers may give a string as well.

    A parameter is declared so, or is compared with what is no device at all.
    """
    node, site = run.frame.node, event.device_site
    if isinstance(site, cst.Name) and isinstance(node, cst.FunctionDef):
        for one in node.params.params:
            if one.name.value == site.value and _may_be_a_string(run, one, event.text):
                return
    run.announce(event)


def _may_be_a_string(run: Run, parameter: cst.Param, text: str) -> bool:
    if parameter.annotation is None:
        return not names_device_type(text)
    return "str" in names_in(parameter.annotation.annotation)


def _texts(elements: Iterable[Value]) -> str:
    """What is written in a container of strings."""
    return " ".join(str(one.value) for one in elements if isinstance(one, Const))


_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _compare_bound(symbol: str, number: Value, bound: Value) -> bool | None:
    """What holds of a number of which is known what it is at least."""
    if not (isinstance(number, HostValue) and isinstance(bound, Const)):
        return None
    least, other = number.least, bound.value
    if least is None or not isinstance(other, (int, float)):
        return None
    is_above = least > other
    outcome = {"<": False, ">=": True} if least >= other else {}
    outcome |= {"<=": False, "==": False, "!=": True, ">": True} if is_above else {}
    return outcome.get(symbol)


def _compare_constants(symbol: str, one: Const, other: Const) -> Value:
    left, right = one.value, other.value
    if symbol in ("==", "!="):
        return as_bool((left == right) is (symbol == "=="))
    if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        return HOST
    outcome = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
    return as_bool(outcome[symbol])


def _compare_devices(
    run: Run,
    node: cst.Comparison,
    symbol: str,
    left: tuple[cst.CSTNode, Value],
    right: tuple[cst.CSTNode, Value],
) -> Value:
    (one_site, one), (other_site, other) = left, right
    for handle, handle_site, text, text_site in (
        (one, one_site, other, other_site),
        (other, other_site, one, one_site),
    ):
        if isinstance(handle, DeviceHandle) and isinstance(text, Const):
            if handle.is_object and isinstance(text.value, str):
                _announce(run, DeviceCompared(node, handle_site, text_site, text.value, symbol))
                return as_bool(symbol == "!=")
            if isinstance(handle.device, Known) and not handle.is_object:
                return as_bool((str(handle.device) == text.value) is (symbol == "=="))
    if isinstance(one, DeviceHandle) and isinstance(other, DeviceHandle):
        known = isinstance(one.device, Known) and isinstance(other.device, Known)
        if known and one.is_object and other.is_object:
            return as_bool((one.device == other.device) is (symbol == "=="))
    return Flag(run.code_of(node))
