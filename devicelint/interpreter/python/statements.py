"""Simple statements, definitions and imports."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    NONE,
    Batch,
    DictOf,
    ImportedName,
    Instance,
    ListOf,
    Module,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.objects import setter_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import executes
from devicelint.interpreter.python.assignment import assign
from devicelint.interpreter.python.branches import assume
from devicelint.interpreter.python.classes import define_class
from devicelint.interpreter.python.containers.lists import delete_item
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.python.decorators import decorated, decorated_class
from devicelint.interpreter.python.definitions import define_function
from devicelint.interpreter.python.operators import augmented
from devicelint.interpreter.python.parameters import offered
from devicelint.interpreter.python.paths.skips import note_marks


@executes(cst.SimpleStatementLine, cst.SimpleStatementSuite)
def simple_line(run: Run, node: cst.SimpleStatementLine | cst.SimpleStatementSuite) -> None:
    for statement in node.body:
        if run.state.dead:
            return
        run.frame.statement = statement
        run.execute(statement)


@executes(cst.Expr)
def expression_statement(run: Run, node: cst.Expr) -> None:
    value = run.evaluate(node.value)
    if isinstance(node.value, cst.Call):
        if node not in run.program.shown:
            run.announce_discarded(node.value, node)
            _keep_in_place(run, node.value, value)
        _forget_receiver(run, node.value, value)


def _keep_in_place(run: Run, call: cst.Call, value: Value) -> None:
    """A tensor stays where it is when the copy that a move makes is thrown away."""
    transfer = run.discarded_by(call)
    if transfer is None or not isinstance(call.func, cst.Attribute):
        return
    receiver = transfer.receiver
    if transfer.target is None or transfer.result == receiver or not _is_copied(receiver):
        return
    assert isinstance(receiver, (Tensor, Batch))
    since = Step(Verb.STAYED, call, receiver.device, transfer.target)
    stayed = replace(receiver, since=since)
    place = call.func.value
    if isinstance(place, cst.Name):
        run.bind(place.value, stayed, place)
    elif isinstance(place, (cst.Attribute, cst.Subscript)) and _is_item(run, place):
        assign(run, place, stayed, place)


def _forget_receiver(run: Run, call: cst.Call, value: Value) -> None:
    """`x.to(device)` as a statement: what is no tensor may have moved in place."""
    func = call.func
    if not (isinstance(func, cst.Attribute) and func.attr.value in ("to", "cuda", "cpu")):
        return
    if isinstance(func.value, cst.Name):
        receiver = run.lookup(func.value.value)
        if isinstance(value, Placed) and isinstance(
            receiver, (Symbolic, Placed, Unknown, ImportedName)
        ):
            run.bind(func.value.value, value, func.value)
        elif isinstance(receiver, Batch) and receiver.whole:
            run.bind(func.value.value, Unknown("may move in place"), func.value)


@executes(cst.Assign)
def assignment(run: Run, node: cst.Assign) -> None:
    value = run.evaluate(node.value)
    note_marks(run, node)
    run.steps.assignment(node)
    for target in node.targets:
        if type(target.target) is cst.Attribute:
            run.steps.attribute_assigned(target.target, node)
        assign(run, target.target, value, node.value)


@executes(cst.AnnAssign)
def annotated_assignment(run: Run, node: cst.AnnAssign) -> None:
    if node.value is None:
        return
    is_field = isinstance(run.frame.node, cst.ClassDef)
    value = offered(run, node.value) if is_field else run.evaluate(node.value)
    if isinstance(node.target, cst.Attribute):
        run.steps.attribute_assigned(node.target, node)
    assign(run, node.target, value, node.value)


@executes(cst.AugAssign)
def augmented_assignment(run: Run, node: cst.AugAssign) -> None:
    before = run.evaluate(node.target)
    added = run.evaluate(node.value)
    value = augmented(run, node, Argument(node.target, before), Argument(node.value, added))
    if isinstance(node.target, cst.Subscript) and isinstance(before, Tensor):
        return
    assign(run, node.target, value, node.value)


@executes(cst.Return)
def return_statement(run: Run, node: cst.Return) -> None:
    value = NONE if node.value is None else run.evaluate(node.value)
    frame = run.frame
    frame.returns.append((value, run.state.fork()))
    frame.separated_by = frame.choices[-1] if frame.choices else frame.separated_by
    run.state.dead = True


@executes(cst.Raise)
def raise_statement(run: Run, node: cst.Raise) -> None:
    if node.exc is not None:
        run.evaluate(node.exc)
    run.state.dead = True


@executes(cst.Break)
def break_statement(run: Run, node: cst.Break) -> None:
    if run.frame.loops:
        run.frame.loops[-1].breaks.append(run.state.fork())
    run.state.dead = True


@executes(cst.Continue)
def continue_statement(run: Run, node: cst.Continue) -> None:
    if run.frame.loops:
        run.frame.loops[-1].continues.append(run.state.fork())
    run.state.dead = True


@executes(cst.Del)
def delete_statement(run: Run, node: cst.Del) -> None:
    targets = (
        [element.value for element in node.target.elements]
        if isinstance(node.target, (cst.Tuple, cst.List))
        else [node.target]
    )
    for target in targets:
        if isinstance(target, cst.Name):
            run.state.write(run.frame.ref, target.value, Unknown("deleted"))
        elif isinstance(target, cst.Subscript):
            delete_item(run, run.evaluate(target.value), key_of(run, target))
        elif isinstance(target, cst.Attribute):
            owner = run.evaluate(target.value)
            if isinstance(owner, Instance):
                run.state.delete(owner.ref, target.attr.value)


@executes(cst.Global)
def global_statement(run: Run, node: cst.Global) -> None:
    for item in node.names:
        run.frame.not_local[item.name.value] = run.frame.home


@executes(cst.Nonlocal)
def nonlocal_statement(run: Run, node: cst.Nonlocal) -> None:
    for item in node.names:
        run.frame.not_local[item.name.value] = None


@executes(cst.Assert)
def assert_statement(run: Run, node: cst.Assert) -> None:
    assume(run, run.evaluate(node.test), node.test)


@executes(cst.FunctionDef)
def function_definition(run: Run, node: cst.FunctionDef) -> None:
    run.frame.statement = node
    function = define_function(run, node)
    value = decorated(run, node, function) if node.decorators else function
    if function.kind in ("setter", "deleter"):
        if function.kind == "setter":
            run.state.write(run.frame.ref, setter_of(node.name.value), value)
        return
    run.bind(node.name.value, value, node.name)


@executes(cst.ClassDef)
def class_definition(run: Run, node: cst.ClassDef) -> None:
    run.frame.statement = node
    defined = define_class(run, node)
    cls = decorated_class(run, node, defined) if node.decorators else defined
    run.bind(node.name.value, cls, node.name)


def _is_item(run: Run, place: cst.Attribute | cst.Subscript) -> bool:
    """Whether a place holds a tensor of its own, rather than being part of one."""
    owner = run.evaluate(place.value)
    return isinstance(owner, (Module, Instance, ListOf, DictOf))


def _is_copied(value: Value) -> bool:
    """Whether a transfer of a value is known to leave it where it is, and to return a copy."""
    return isinstance(value, Tensor) or (isinstance(value, Batch) and not value.whole)
