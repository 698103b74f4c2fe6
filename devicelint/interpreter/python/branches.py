"""Branches, `try`, `with` and `match`: paths that part and meet again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext

import libcst as cst

from devicelint.domain.values import (
    Const,
    Flag,
    Function,
    ImportedName,
    Stream,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import enters, executes
from devicelint.interpreter.facts.machines.asked import note_asked
from devicelint.interpreter.facts.machines.choices import note_required
from devicelint.interpreter.facts.machines.choosing_branches import only_choose
from devicelint.interpreter.facts.mentions import called_method, calls_method, names_in
from devicelint.interpreter.facts.saved_files import asking_for_files
from devicelint.interpreter.python.assignment import assign
from devicelint.interpreter.python.conditions import (
    EXCEPT,
    assuming,
    choosing,
    condition_at,
    condition_of,
    depends_on_choice,
    is_machine,
    is_unrelated,
    outcome_of,
    truth_of,
    under_setting,
)
from devicelint.interpreter.python.paths.device_questions import asks_for_place, said_of_devices
from devicelint.interpreter.python.paths.endings import is_meant_to_fail
from devicelint.interpreter.python.paths.idle_questions import ends_without
from devicelint.interpreter.python.paths.narrowing import narrow
from devicelint.interpreter.python.paths.questions import answers_to

NO_GRAD = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})


@executes(cst.If)
def if_statement(run: Run, node: cst.If) -> None:
    value = condition_at(run, node.test)
    run.steps.read(Argument(node.test, value), node.test)
    if isinstance(value, Flag) and is_machine(value):
        if ends_without(run, node, value):
            note_required(run)
        left_out = node.orelse if truth_of(run, value) else node.body
        run.depends_on_machine |= left_out is not None and _concerns_devices(left_out)
    with choosing(run, node.test, value), asking_for_files(run, node.test):
        branch(
            run,
            value,
            lambda: run.execute_block(node.body),
            lambda: _otherwise(run, node.orelse),
            node.test,
        )


_CONCERNED = frozenset({"to", "cpu", "cuda", "numpy", "load"})


def _concerns_devices(block: cst.CSTNode) -> bool:
    """Whether a branch that is left out here could do something that is worth walking."""
    return any(
        isinstance(node, (cst.FunctionDef, cst.ClassDef)) or called_method(node) in _CONCERNED
        for node in descendants(block)
    )


def _otherwise(run: Run, orelse: cst.If | cst.Else | None) -> None:
    if isinstance(orelse, cst.If):
        run.execute(orelse)
    elif orelse is not None:
        run.execute_block(orelse.body)


def branch(
    run: Run,
    value: Value,
    body: Callable[[], None],
    orelse: Callable[[], None],
    test: cst.BaseExpression,
) -> None:
    """Walk one branch where the condition is known, both where it is not."""
    condition = condition_of(value)
    known = outcome_of(run, condition, test)
    if known is not None:
        if not isinstance(condition, Const):
            run.state.suppose(said_of_devices(run, test, known))
        with assuming(run, condition), under_setting(run, condition, known):
            (body if known else orelse)()
        return
    _walk_both(run, condition, body, orelse, test)


def _walk_both(
    run: Run,
    condition: Value,
    body: Callable[[], None],
    orelse: Callable[[], None],
    test: cst.BaseExpression,
) -> None:
    """Walk both branches, each with what its outcome says, and go on with what either leaves."""
    flag = condition if isinstance(condition, Flag) else None
    holds, fails = answers_to(run, test)
    other, exits = run.state.fork(), run.frame.exits
    run.frame.choices.extend([flag] if flag else ())
    with assuming(run, condition):
        run.state.suppose(holds)
        narrow(run, test, holds, True)
        with under_setting(run, condition, True):
            body()
        one, run.state = run.state, other
        run.state.suppose(fails)
        narrow(run, test, fails, False)
        with under_setting(run, condition, False):
            orelse()
    if flag:
        run.frame.choices.pop()
    if one.dead is not run.state.dead and depends_on_choice(run, condition):
        idle = run.frame.exits == exits or asks_for_place(run, test)
        _assume_for_the_rest(run, condition, idle=idle)
    other, run.state = run.state, one
    run.merge(other, flag, apart=True)


def _assume_for_the_rest(run: Run, condition: Value, *, idle: bool) -> None:
    """One of the paths has ended: what follows in this frame depends on the condition.

    Where it has raised, what follows is no choice: it is all that there is.
    """
    unrelated = is_unrelated(run, condition)
    run.frame.assumed += 1
    run.assumptions += 1
    run.frame.assumed_unrelated += unrelated
    run.unrelated += unrelated
    run.frame.assumed_idle += idle and not unrelated
    run.idle += idle and not unrelated


def assume(run: Run, value: Value, test: cst.BaseExpression) -> None:
    """`assert condition`: go on only where it holds."""

    def stop() -> None:
        run.state.dead = True

    branch(run, value, lambda: None, stop, test)


@executes(cst.Try, cst.TryStar)
def try_statement(run: Run, node: cst.Try | cst.TryStar) -> None:
    before = run.state.fork()
    _try(run, node)
    failed = run.state.fork() if not run.state.dead else before.fork()
    failed.failed = before.failed
    failed.merge(before)
    if node.orelse is not None and not run.state.dead:
        run.execute_block(node.orelse.body)
    for handler in node.handlers:
        after, run.state = run.state, failed.fork()
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            run.bind(handler.name.name.value, Unknown("an exception"), handler.name.name)
        with assuming(run, Flag(EXCEPT)):
            run.execute_block(handler.body)
        handled, run.state = run.state, after
        run.merge(handled, None)
    if node.finalbody is not None:
        dead, run.state.dead = run.state.dead, False
        run.execute_block(node.finalbody.body)
        run.state.dead = run.state.dead or dead


def _try(run: Run, node: cst.Try | cst.TryStar) -> None:
    expected = tuple(_expected(node))
    tried = bool(node.handlers)
    unrelated = tried and _DEVICE_ERRORS.isdisjoint(expected or ("Exception",))
    idle = tried and not unrelated and not _moves_on_failure(node)
    if tried and not (unrelated or idle):
        note_asked(run)  # What fails there is the answer.
    before = len(run.expected)
    run.expected.extend(expected)
    run.assumptions += tried
    run.unrelated += unrelated
    run.idle += idle
    run.execute_block(node.body)
    run.idle -= idle
    run.unrelated -= unrelated
    run.assumptions -= tried
    del run.expected[before:]


def _moves_on_failure(node: cst.Try | cst.TryStar) -> bool:
    """Whether what is tried is the move to a device, or something is moved where that fails."""
    return only_choose(node.body, *(one.body for one in node.handlers))


_DEVICE_ERRORS = frozenset({"Exception", "BaseException", "RuntimeError", "AssertionError"})
"""What the lack of an accelerator raises, and what a handler catches that with."""


def _expected(node: cst.Try | cst.TryStar) -> Iterator[str]:
    """The exceptions that a `try` is about.

    A handler for everything is about devices where it moves something to the CPU itself: another
    one, around a whole program, does not make its errors any better.
    """
    for handler in node.handlers:
        if handler.type is not None:
            yield from names_in(handler.type)
        if calls_method(handler, {"cpu"}):
            yield from ("TypeError", "RuntimeError")


@executes(cst.With)
def with_statement(run: Run, node: cst.With) -> None:
    disabled = 0
    with ExitStack() as entered:
        for entry in node.items:
            value = run.evaluate(entry.item)
            disabled += _disables_grad(run, entry.item)
            handler = enters.get(type(value), _enter_unknown)
            bound = entered.enter_context(handler(run, value, entry))
            if entry.asname is not None:
                assign(run, entry.asname.name, bound, entry.item)
        run.no_grad += disabled
        if any(is_meant_to_fail(run, entry.item) for entry in node.items):
            _fail(run, node.body)
        else:
            run.execute_block(node.body)
        run.no_grad -= disabled


def _fail(run: Run, body: cst.BaseSuite) -> None:
    """Execute a block that is to raise, wherever in it that is; what follows it is executed."""
    has_failed = run.state.failed
    run.meant_to_fail += 1
    with run.muted():
        run.execute_block(body)
    run.meant_to_fail -= 1
    run.state.dead, run.state.failed = False, has_failed


def _enter_unknown(run: Run, value: Value, item: cst.WithItem) -> AbstractContextManager[Value]:
    return nullcontext(Unknown("entered by with"))


@enters(Symbolic)
def _enter_outside(run: Run, value: Symbolic, item: cst.WithItem) -> AbstractContextManager[Value]:
    return nullcontext(value)


@enters(Stream)
def _enter_stream(run: Run, value: Stream, item: cst.WithItem) -> AbstractContextManager[Value]:
    """What a `@contextmanager` of the file yields."""
    return nullcontext(value.element if _is_generator_of_file(run, item.item) else value)


def _is_generator_of_file(run: Run, site: cst.BaseExpression) -> bool:
    """`with session():`, where `session` is a `@contextmanager` of the file."""
    func = site.func if isinstance(site, cst.Call) else None
    return isinstance(func, cst.Name) and isinstance(run.lookup(func.value), Function)


def _disables_grad(run: Run, node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Call):
        return False
    callee = run.evaluate(node.func) if isinstance(node.func, (cst.Name, cst.Attribute)) else None
    return isinstance(callee, ImportedName) and callee.name in NO_GRAD
