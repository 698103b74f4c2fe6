"""Marks with which pytest and unittest leave out tests: what they ask is required, not chosen."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.collected import is_collected
from devicelint.domain.history import Site
from devicelint.domain.values import NONE, Bound, Const, Flag, Function, ImportedName, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.facts.device_settings import asks_for_device
from devicelint.interpreter.facts.machines.asked import asking_for_marks
from devicelint.interpreter.facts.machines.choices import note_mark
from devicelint.interpreter.python.conditions import is_machine
from devicelint.interpreter.python.paths.endings import is_test_case

_CONDITIONAL = frozenset({"pytest.mark.skipif", "unittest.skipIf", "unittest.skipUnless"})
_LEAVING_OUT = _CONDITIONAL | {
    *("pytest.mark.skip", "pytest.mark.xfail", "unittest.skip", "unittest.expectedFailure"),
}
_ALWAYS = frozenset({"pytest.mark.skip", "unittest.skip"})
_RAISING = frozenset({"pytest.mark.xfail", "unittest.expectedFailure"})
_RUNNING = (
    *("builtins.", "contextlib.", "functools.", "hypothesis.", "mock.", "parameterized."),
    *("pytest.fixture", "pytest.mark.filterwarnings", "pytest.mark.parametrize", "typing."),
    *("torch.amp.", "torch.autograd.", "torch.cuda.", "torch.enable_grad", "torch.inference_mode"),
    *("torch.jit.", "torch.no_grad", "unittest.mock."),
)
"""What runs a test wherever it is collected; another mark is the project's to give a meaning."""
_PLACING = frozenset({"ray.remote"})
_GPUS = "num_gpus"
"""What starts an actor or a task on a machine that has what is asked for, and how that is asked."""
_OF_ALL = "pytestmark"
"""The name whose marks pytest gives to all tests of a file, or of a class."""


class Marks(Notes):
    """How many marks were met that leave out tests."""

    def __init__(self) -> None:
        self.met = 0


def note_mark_called(run: Run, callee: Value, call: cst.Call) -> None:
    """The arguments of a mark say where the tests run."""
    if not isinstance(callee, ImportedName) or callee.name not in _LEAVING_OUT:
        return
    run.notes(Marks).met += 1
    marked = next((one for one in run.frame.outwards() if _marks_all(one.statement)), None)
    if marked is not None:
        marked.guarded = True
    elif callee.name in _CONDITIONAL and _asks_machine(run, call):
        note_mark(run)


def note_marks(run: Run, statement: cst.Assign) -> None:
    """A statement gives marks to all tests of a file or a class: one unseen may leave them out."""
    if not _marks_all(statement):
        return
    given = statement.value
    listed = given.elements if isinstance(given, (cst.List, cst.Tuple)) else ()
    marks = [one.value for one in listed] or [given]
    run.frame.guarded |= any(not _runs(run, one) for one in marks)
    run.frame.left_out |= any(is_left_out(run, one) for one in marks)


def may_leave_out(run: Run, node: cst.FunctionDef | cst.ClassDef, mark: cst.Decorator) -> bool:
    """Whether a decorator asks for a device, or may keep a test from being run.

    One of a test that is not seen may, too.
    """
    named = mark.decorator
    callee = _callee(run, named)
    name = callee.name if isinstance(callee, ImportedName) else ""
    if name in _CONDITIONAL and is_machine(_condition_value(run, named)):
        note_mark(run)
    if asks_for_device(run, named):
        return True
    if name in _LEAVING_OUT or (name in _PLACING and _asks_for_gpus(named)):
        return True
    if not _is_test(run, node) or _runs(run, named):
        return False
    return not _gives_back(run, node, named)


def is_left_out(run: Run, mark: cst.BaseExpression) -> bool:
    """Whether a mark leaves out a test wherever it is collected, or says that it raises."""
    callee = _callee(run, mark)
    if not isinstance(callee, ImportedName):
        return False
    if _condition(mark) is None:
        return callee.name in _ALWAYS | _RAISING
    if callee.name not in _CONDITIONAL | _RAISING:
        return callee.name in _ALWAYS
    value = _condition_value(run, mark)
    if not isinstance(value, Const) or isinstance(value.value, str):
        return False
    return bool(value.value) is (callee.name != "unittest.skipUnless")


def _condition(mark: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a mark is given first, or as its condition; a text is for pytest to evaluate."""
    given = mark.args if isinstance(mark, cst.Call) else ()
    named = (one for one in given if one.keyword is None or one.keyword.value == "condition")
    found = next(named, None)
    return None if found is None else found.value


def _condition_value(run: Run, mark: cst.BaseExpression) -> Value:
    condition = _condition(mark)
    if condition is None:
        return NONE
    with run.muted():
        return run.evaluate(condition)


@function(*_ALWAYS)
def mark_with_reason(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A mark that has a reason is the mark: it may be given a name, and be used by that."""
    return ImportedName(name)


def _asks_for_gpus(named: cst.BaseExpression) -> bool:
    """`@ray.remote(num_gpus=1)`: what is decorated runs where there are some."""
    given = named.args if isinstance(named, cst.Call) else ()
    return any(one.keyword is not None and one.keyword.value == _GPUS for one in given)


def _asks_machine(run: Run, call: cst.Call) -> bool:
    """Whether the condition of a mark is what the machine has."""
    names = (one.value for one in descendants(call) if isinstance(one, cst.Name))
    known = (run.lookup(name) for name in names)
    return asks_for_device(run, call) or any(isinstance(x, Flag) and is_machine(x) for x in known)


def _marks_all(statement: Site) -> bool:
    if type(statement) is not cst.Assign:
        return False
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            return name == _OF_ALL
        case _:
            return False


def _callee(run: Run, named: cst.BaseExpression) -> Value | None:
    called = named.func if isinstance(named, cst.Call) else named
    return run.evaluate(called) if isinstance(called, (cst.Name, cst.Attribute)) else None


def _runs(run: Run, named: cst.BaseExpression) -> bool:
    """Whether a mark or decorator is of a library, and known to run what it is given."""
    callee = _callee(run, named)
    return isinstance(callee, ImportedName) and f"{callee.name}.".startswith(_RUNNING)


def _is_test(run: Run, node: cst.FunctionDef | cst.ClassDef) -> bool:
    """Whether pytest or unittest collect this, by what they document."""
    if isinstance(node, cst.ClassDef):
        bases = (run.evaluate(one.value) for one in node.bases)
        is_named = node.name.value.startswith("Test") and is_collected(run.program.path)
        return is_named or any(map(is_test_case, bases))
    if not node.name.value.startswith("test"):
        return False
    around = run.frame.node
    return is_collected(run.program.path) or (
        isinstance(around, cst.ClassDef) and _is_test(run, around)
    )


def _gives_back(run: Run, node: cst.FunctionDef | cst.ClassDef, named: cst.BaseExpression) -> bool:
    """Whether a decorator of the project gives a function back as it is, and marks nothing."""
    marks = run.notes(Marks)
    before = marks.met
    with run.muted(), asking_for_marks(run) as asked:
        made = run.evaluate(named)
        if isinstance(made, (Function, Bound)) and isinstance(node, cst.FunctionDef):
            given = Function(node, node.name.value, run.frame.ref)
            arguments = Arguments([Argument(named, given)])
            made = run.call(made, arguments, cst.Call(named, [cst.Arg(named)]))
    if marks.met > before:
        if asked:
            note_mark(run)
        return False
    return isinstance(made, Function) and made.node is node
