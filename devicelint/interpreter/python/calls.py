"""Calls: who is called, with what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import libcst as cst

from devicelint.domain.alternatives import cases_of, is_mixed, on_path, one_object_of
from devicelint.domain.join import join_known
from devicelint.domain.values import (
    Batch,
    DictOf,
    Function,
    ImportedName,
    Module,
    OneOf,
    Placed,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.cases import each, taking, use
from devicelint.interpreter.engine.objects import CLASS_FIELD, module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    calls,
    evaluates,
    method_of_anything,
    method_of_unknown,
    methods,
    passes,
    spreads,
)
from devicelint.interpreter.facts.file_sources import source_of
from devicelint.interpreter.python.attributes import read_attribute
from devicelint.interpreter.python.containers.contents import element_of, is_counted, known_elements
from devicelint.interpreter.python.containers.fields import ELEMENT, name_of_field
from devicelint.interpreter.python.paths.endings import is_ending, leave
from devicelint.interpreter.python.paths.skips import note_mark_called
from devicelint.interpreter.python.unseen import is_unseen_method, result_of_unseen


@evaluates(cst.Call)
def call(run: Run, node: cst.Call) -> Value:
    """A method of a value is asked of the value; anything else is evaluated and called."""
    module = run.guesses.callee(run, node.func)
    if module is not None:
        return run.call(module, arguments_of(run, node), node)
    return run.guesses.result(run, node, _called(run, node))


def _called(run: Run, node: cst.Call) -> Value:
    func = node.func
    if type(func) is cst.Attribute:
        receiver = run.evaluate(func.value)
        use(run, receiver)
        method = methods.get(type(receiver))
        if is_ending(run, receiver, func.attr.value):
            arguments_of(run, node)
            return leave(run, func.attr.value, Arguments(), node)
        if method is not None:
            result = method(run, receiver, func.attr.value, node)
            return _of_method(run, receiver, func.attr.value, node, result)
        callee = read_attribute(run, receiver, func.attr.value, func)
        if isinstance(callee, Unknown):
            return method_unseen(run, receiver, callee, node)
    else:
        callee = run.evaluate(func)
    note_mark_called(run, callee, node)
    arguments = arguments_of(run, node)
    result = run.call(callee, arguments, node)
    if isinstance(result, Unknown):
        run.steps.called_unseen(callee, arguments, node)
        if result.symbol is None and _is_unseen(run, callee):
            return _given_by(run, result.reason, (Argument(func, callee), *arguments), node)
    return result


def _of_method(run: Run, receiver: Value, name: str, node: cst.Call, result: Value) -> Value:
    """What a method gives: of something that is not seen, nobody knows what."""
    if not isinstance(result, Unknown) or result.symbol is not None:
        return result
    if not is_unseen_method(run, receiver, name):
        return result
    arguments = _named_arguments(run, node)
    if isinstance(receiver, Symbolic):
        run.steps.called_unseen(receiver, arguments, node)
    return _given_by(run, result.reason, (Argument(node.func, receiver), *arguments), node)


def method_unseen(run: Run, receiver: Value, callee: Value, node: cst.Call) -> Value:
    """What a method gives of which nothing is known but its name."""
    assert isinstance(node.func, cst.Attribute)
    name, arguments = node.func.attr.value, arguments_of(run, node)
    run.steps.called_unseen(callee, arguments, node)
    handler = method_of_unknown.get(name)
    known = None if handler is None else handler(run, receiver, node)
    if known is not None:
        return known
    given = (Argument(node.func, receiver), *arguments)
    result = _given_by(run, f"the result of .{name}()", given, node)
    is_part = hasattr(str, name) or name == "get"
    return replace(result, source=source_of(receiver)) if is_part else result


def _given_by(run: Run, reason: str, given: Iterable[Argument], node: cst.Call) -> Unknown:
    return result_of_unseen(run, reason, [one.value for one in given], node)


def _is_unseen(run: Run, callee: Value) -> bool:
    """Whether nobody sees what a call does: what is imported, given, or of a library."""
    if isinstance(callee, ImportedName):
        return not callee.name.startswith("builtins.")
    if isinstance(callee, Module):
        is_of_torch = callee.name.startswith("torch.")
        return not is_of_torch and run.state.read(callee.ref, CLASS_FIELD) is None
    return isinstance(callee, (Unknown, Symbolic, Placed))


def _named_arguments(run: Run, node: cst.Call) -> Arguments:
    """The arguments that are names or texts, where a method has evaluated them already."""
    named = [one.value for one in node.args if type(one.value) in _LOOKED_UP]
    with run.muted():
        return Arguments([Argument(one, run.evaluate(one)) for one in named])


_LOOKED_UP = frozenset({cst.Name, cst.Attribute, cst.SimpleString})


def arguments_of(run: Run, node: cst.Call) -> Arguments:
    """The arguments of a call, each evaluated once, in order."""
    arguments = Arguments()
    for argument in node.args:
        value = run.evaluate(argument.value)
        if argument.star == "*":
            _spread(run, arguments, value, argument.value)
        elif argument.star == "**":
            _spread_keywords(run, arguments, value, argument.value)
        elif argument.keyword is not None:
            arguments.keywords[argument.keyword.value] = Argument(argument.value, value)
        else:
            arguments.positional.append(Argument(argument.value, value))
        passed = passes.get(type(value))
        if passed is not None:
            passed(run, value, node)
    if type(node.func) is cst.Attribute:
        shows = method_of_anything.get(node.func.attr.value)
        if shows is not None:
            shows(run, node, arguments)
    return arguments


def _spread(run: Run, arguments: Arguments, value: Value, site: cst.BaseExpression) -> None:
    elements = known_elements(run, value)
    if elements is None:
        arguments.open = True
        arguments.unpacked.append(value)
        arguments.positional.append(Argument(site, element_of(run, value, site)))
    else:
        arguments.positional.extend(Argument(site, element) for element in elements)
        arguments.uncounted = arguments.uncounted or not is_counted(run, value)


def _spread_keywords(
    run: Run, arguments: Arguments, value: Value, site: cst.BaseExpression
) -> None:
    handler = spreads.get(type(value))
    if handler is None:
        arguments.open = True
        arguments.may_name = True
    else:
        handler(run, arguments, value, site)


@spreads(Batch)
def _spread_batch(run: Run, arguments: Arguments, value: Batch, site: cst.BaseExpression) -> None:
    arguments.open = True
    arguments.spread.append(Argument(site, value))


@spreads(DictOf)
def _spread_dict(run: Run, arguments: Arguments, value: DictOf, site: cst.BaseExpression) -> None:
    for field, element in run.state.fields(value.ref).items():
        name = name_of_field(field)
        if name is not None:
            arguments.keywords[name] = Argument(site, element)
        elif field == ELEMENT:
            arguments.open = True
            arguments.may_name = True
            arguments.spread.append(Argument(site, element))


@calls(OneOf)
def call_one_of(run: Run, callee: OneOf, arguments: Arguments, site: cst.Call) -> Value:
    if is_mixed(callee):
        return each(run, callee, lambda one: run.call(one, arguments, site))
    here = on_path(callee, run.state.facts)
    if not isinstance(here, OneOf):
        return run.call(here, arguments, site)
    if any(isinstance(one, Function) for one in here.options):
        return _call_either(run, here, arguments, site)
    places = {module_device(run, one).device for one in here.options if isinstance(one, Module)}
    run.device_choices += len(places) > 1
    joined: Value | None = None
    for option, path in cases_of(here):
        with taking(run, path):
            result = run.call(option, arguments, site)
        joined = result if joined is None else one_object_of(joined, result)
    run.device_choices -= len(places) > 1
    assert joined is not None
    return joined


def _call_either(run: Run, functions: OneOf, arguments: Arguments, site: cst.Call) -> Value:
    """One of several functions is called: what it does holds on its path alone."""
    before, merged, joined = run.state, None, None
    for function, path in cases_of(functions):
        run.state = before.fork()
        run.state.take(path)
        result = run.call(function, arguments, site)
        joined = result if joined is None else join_known(joined, result)
        if merged is not None:
            run.state.merge(merged)
        merged = run.state
    run.state.taken = before.taken
    assert joined is not None
    return joined


@methods(OneOf)
def method_of_one_of(run: Run, receiver: OneOf, name: str, node: cst.Call) -> Value:
    if is_mixed(receiver):
        return each(run, receiver, lambda one: _method_of(run, one, name, node))
    joined: Value | None = None
    for option in receiver.options:
        method = methods.get(type(option))
        result: Value = (
            Unknown("a method of one of several")
            if method is None
            else method(run, option, name, node)
        )
        joined = result if joined is None else join_known(joined, result)
    assert joined is not None
    return receiver if joined in receiver.options else joined


def _method_of(run: Run, receiver: Value, name: str, node: cst.Call) -> Value:
    assert isinstance(node.func, cst.Attribute)
    use(run, receiver)
    method = methods.get(type(receiver))
    if method is not None:
        return method(run, receiver, name, node)
    callee = read_attribute(run, receiver, name, node.func)
    return run.call(callee, arguments_of(run, node), node)


@calls(Symbolic)
def call_outside(run: Run, callee: Symbolic, arguments: Arguments, site: cst.Call) -> Value:
    answer = run.guesses.called(run, callee, arguments, site)
    return answer or Unknown(f"the result of {callee.origin}()")
