"""Names, literals, displays and the other simple expressions."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.alternatives import either_known
from devicelint.domain.join import as_bool, join_known
from devicelint.domain.values import (
    HOST,
    NONE,
    Const,
    Flag,
    Function,
    HostValue,
    Path,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import evaluates
from devicelint.interpreter.facts.machines.asked import note_placed
from devicelint.interpreter.facts.machines.choosing_branches import is_named
from devicelint.interpreter.python.conditions import (
    assuming,
    choosing,
    condition_at,
    condition_of,
    outcome_of,
    truth_of,
)
from devicelint.interpreter.python.containers.contents import element_of, known_elements, new_list
from devicelint.interpreter.python.containers.dictionaries import fields_given, new_dict
from devicelint.interpreter.python.containers.fields import LENGTH, key_field
from devicelint.interpreter.python.paths.questions import answers_to
from devicelint.interpreter.python.special_methods import overloaded_unary


@evaluates(cst.Name)
def name(run: Run, node: cst.Name) -> Value:
    value = run.lookup(node.value)
    return run.guesses.read(run, node, value) if run.guesses.know_names else value


@evaluates(cst.Integer, cst.Float, cst.Imaginary)
def number(run: Run, node: cst.Integer | cst.Float | cst.Imaginary) -> Value:
    if node.value.isdecimal() and len(node.value) <= _LONGEST_NUMBER:
        return Const(int(node.value), node, bool(run.assumptions))
    if len(node.value) > _LONGEST_NUMBER:
        return HOST
    # libcst asks ast for the value, which takes longer than everything else that is done here.
    is_plain = isinstance(node, cst.Float)
    return Const(float(node.value) if is_plain else node.evaluated_value, node)


_LONGEST_NUMBER = 100


@evaluates(cst.Ellipsis)
def ellipsis_written(run: Run, node: cst.Ellipsis) -> Value:
    return Const(Ellipsis, node)


@evaluates(cst.SimpleString)
def string(run: Run, node: cst.SimpleString) -> Value:
    text = _within_quotes(node)
    if "\\" in text or len(text) > _LONGEST_NUMBER:
        return HOST
    if run.of_machine and is_named(node):
        note_placed(run)
    return Const(text, node, bool(run.assumptions))


def _within_quotes(node: cst.SimpleString) -> str:
    """What libcst says, too, and takes longer for: most strings have no prefix."""
    text = node.value
    if text[0] not in "'\"":
        return node.raw_value
    width = 3 if text.startswith(("'''", '"""')) else 1
    return text[width:-width]


@evaluates(cst.ConcatenatedString)
def concatenated_string(run: Run, node: cst.ConcatenatedString) -> Value:
    return HOST


@evaluates(cst.Tuple)
def tuple_display(run: Run, node: cst.Tuple) -> Value:
    items: list[Value] = []
    for element in node.elements:
        value = run.evaluate(element.value)
        if isinstance(element, cst.StarredElement):
            parts = known_elements(run, value)
            if parts is None:
                return Unknown("a starred element of unknown length")
            items.extend(parts)
        else:
            items.append(value)
    run.steps.tuple(node, items)
    return Tuple(tuple(items))


@evaluates(cst.List, cst.Set)
def list_display(run: Run, node: cst.List | cst.Set) -> Value:
    held: list[Value] = []
    counted = True
    for element in node.elements:
        value = run.evaluate(element.value)
        if isinstance(element, cst.StarredElement):
            parts = known_elements(run, value)
            counted = counted and parts is not None
            held.extend((element_of(run, value, element.value),) if parts is None else parts)
        else:
            held.append(value)
    made = new_list(run, node, held)
    if not counted:
        run.state.write(made.ref, LENGTH, HOST)
    return made


@evaluates(cst.Dict)
def dict_display(run: Run, node: cst.Dict) -> Value:
    fields: list[tuple[str, Value]] = []
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            key = run.evaluate(element.key)
            fields.append((key_field(key), run.evaluate(element.value)))
        else:
            fields.extend(fields_given(run, run.evaluate(element.value), element.value))
    return new_dict(run, node, fields)


@evaluates(cst.NamedExpr)
def walrus(run: Run, node: cst.NamedExpr) -> Value:
    value = run.evaluate(node.value)
    if isinstance(node.target, cst.Name):
        run.bind(node.target.value, value, node.target)
    return value


@evaluates(cst.IfExp)
def conditional(run: Run, node: cst.IfExp) -> Value:
    condition = condition_at(run, node.test)
    known = outcome_of(run, condition, node.test)
    with choosing(run, node.test, condition), assuming(run, condition):
        if known is not None:
            return run.evaluate(node.body if known else node.orelse)
        holds, fails = answers_to(run, node.test)
        has_failed = run.state.failed
        one, one_fails = _evaluate_on(run, node.body, holds)
        run.state.failed = has_failed
        other, other_fails = _evaluate_on(run, node.orelse, fails)
    run.state.failed = one_fails and other_fails
    if one_fails is not other_fails:
        return other if one_fails else one
    joined = either_known(one, other, holds, fails)
    if isinstance(condition, Flag):
        run.separate(condition, one, other, joined)
    return joined


def _evaluate_on(run: Run, node: cst.BaseExpression, path: Path) -> tuple[Value, bool]:
    """What an expression is on a path of which something holds, and whether it has failed."""
    before = run.state.facts
    run.state.suppose(path)
    value = run.evaluate(node)
    run.state.facts = before
    return value, run.state.failed


@evaluates(cst.BooleanOperation)
def boolean_operation(run: Run, node: cst.BooleanOperation) -> Value:
    left = run.evaluate(node.left)
    if not (isinstance(node.right, cst.Integer) and node.right.value == "0"):
        run.steps.tested(node.left, left)
    conjunction = isinstance(node.operator, cst.And)
    known = truth_of(run, left)
    if known is not None and known is not conjunction:
        return left
    has_failed = run.state.failed
    with assuming(run, left):
        right = run.evaluate(node.right)
    if known is not None:
        return left if right == as_bool(conjunction) else right
    run.state.failed = has_failed
    return _undecided(run, left, right, conjunction)


def _undecided(run: Run, left: Value, right: Value, conjunction: bool) -> Value:
    """`a and b`, `a or b`, where nothing is known of the first."""
    one, other = condition_of(left), condition_of(right)
    if not (isinstance(one, _CONDITIONS) and isinstance(other, _CONDITIONS)):
        return join_known(left, right)
    known = truth_of(run, other)
    if known is not None:
        return one if known is conjunction else as_bool(known)
    if isinstance(one, Flag) and isinstance(other, Flag):
        return Flag(f"{_spelled(one)} {'and' if conjunction else 'or'} {_spelled(other)}")
    return HOST


_CONDITIONS = (Flag, Const, HostValue)


def _spelled(flag: Flag) -> str:
    return f"not {flag.key}" if flag.negated else flag.key


@evaluates(cst.UnaryOperation)
def unary_operation(run: Run, node: cst.UnaryOperation) -> Value:
    value = run.evaluate(node.expression)
    if not isinstance(node.operator, cst.Not):
        if isinstance(value, Const) and isinstance(value.value, (int, float)):
            return _negated(value, node) if isinstance(node.operator, cst.Minus) else HOST
        return overloaded_unary(run, node, value) or value
    run.steps.tested(node.expression, value)
    value = condition_of(value)
    if isinstance(value, Flag):
        return ~value
    known = truth_of(run, value)
    return HOST if known is None else as_bool(not known)


def _negated(value: Const, node: cst.UnaryOperation) -> Value:
    return Const(-value.value, node)  # type: ignore[operator]


@evaluates(cst.Lambda)
def lambda_expression(run: Run, node: cst.Lambda) -> Value:
    frame = run.frame
    frame.keeps_names = True
    function = Function(node, "<lambda>", frame.ref, frame.enclosing_functions(), home=frame.home)
    run.note_function(function)
    return function


@evaluates(cst.Await)
def await_expression(run: Run, node: cst.Await) -> Value:
    return run.evaluate(node.expression)


@evaluates(cst.Yield)
def yield_expression(run: Run, node: cst.Yield) -> Value:
    frame = run.frame
    values = _yielded(run, node)
    frame.yields += values or [NONE]
    is_sure = run.assumptions == frame.entered_under and not frame.assumed
    loops_apart = all(loop.told_apart for loop in frame.loops)
    frame.yields_apart &= is_sure and loops_apart and bool(values) and not frame.returns
    return Unknown("sent into a generator")


def _yielded(run: Run, node: cst.Yield) -> list[Value]:
    """What is yielded one by one; of `yield from` what nobody can tell apart, once."""
    if node.value is None:
        return [NONE]
    if not isinstance(node.value, cst.From):
        return [run.evaluate(node.value)]
    value = run.evaluate(node.value.item)
    elements = known_elements(run, value)
    if elements is None:
        run.frame.yields_apart = False
        return [element_of(run, value, node.value.item)]
    return list(elements)
