"""Questions about the machine that choose nothing: who asks them is prepared for no other one.

Where the answer ends the program, an accelerator is required; where it decides on what is printed
or set up beside the work, the work goes where it goes.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import DEVICE_TYPES
from devicelint.domain.values import Class, Flag, Function, ImportedName, Module, Partial
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.paths.endings import ENDING

_STATE = ("torch.cuda.", "torch.backends.")
_HARMLESS = (
    *("torch.backends.", "torch.cuda.manual_seed", "torch.cuda.seed", "torch.cuda.empty_cache"),
    *("torch.cuda.memory_", "torch.cuda.max_memory_", "torch.cuda.device_count"),
)
"""How the names of what does nothing without an accelerator begin: a test guards nothing of it."""
_CALLED = (Function, Class, Module, Partial)
"""What may do anything where it is called."""
_PLACES = frozenset({"cuda", "cpu", "device", "hpu", "npu", "to", "xpu"})
"""Methods that bring something to a device."""


def chooses_nothing(run: Run, node: cst.If) -> bool:
    """Whether the answer to a test leaves the program nothing else to run on."""
    blocks = tuple(_blocks(node))
    if any(_ends(run, one) for one in blocks):
        return True
    statements = [statement for block in blocks for statement in _statements(block)]
    return all(_is_idle(run, one) for one in statements) and not _is_said(run, statements)


def ends_without(run: Run, node: cst.If, answer: Flag) -> bool:
    """Whether the branch of a test that is taken where there is no accelerator ends the program."""
    if answer.negated:
        return _ends(run, node.body)
    return isinstance(node.orelse, cst.Else) and _ends(run, node.orelse.body)


def _blocks(node: cst.If) -> Iterator[cst.BaseSuite]:
    """The branches of a test, without those of the tests that follow it."""
    yield node.body
    if isinstance(node.orelse, cst.Else):
        yield node.orelse.body
    elif node.orelse is not None:
        yield cst.IndentedBlock([node.orelse])


def _statements(block: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    for one in block.body:
        if isinstance(one, cst.SimpleStatementLine):
            yield from one.body
        else:
            yield one


def _ends(run: Run, block: cst.BaseSuite) -> bool:
    """Whether a branch ends the program, or at least what runs here."""
    match list(_statements(block)):
        case [*_, cst.Raise()]:
            return True
        case [*_, cst.Expr(value=cst.Call(func=func))]:
            return _name_of(run, func) in ENDING
        case _:
            return False


def _is_idle(run: Run, statement: cst.CSTNode) -> bool:
    """Whether a statement prints, counts or sets up, and brings nothing anywhere."""
    match statement:
        case cst.Pass():
            return True
        case cst.Expr(value=value):
            return _calls_are_idle(run, value)
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            is_state = _name_of(run, target).startswith(_STATE)
            return is_state or (_is_text(value) and _calls_are_idle(run, value))
        case _:
            return False


def _is_text(value: cst.BaseExpression) -> bool:
    """Whether this is a text, or a list of texts, and none that names a device."""
    match value:
        case cst.SimpleString(evaluated_value=str(text)):
            return text.partition(":")[0] not in DEVICE_TYPES
        case cst.FormattedString(parts=[cst.FormattedStringText(value=text), *_]):
            return text.partition(":")[0] not in DEVICE_TYPES
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return all(_is_text(one.value) for one in elements)
        case cst.BinaryOperation(left=left, right=right):
            return _is_text(left) and _is_text(right)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name in ("join", "format")
        case _:
            return False


def _calls_are_idle(run: Run, value: cst.BaseExpression) -> bool:
    calls = [one for one in descendants(value) if isinstance(one, cst.Call)]
    return all(_is_idle_call(run, one.func) for one in calls)


def _is_idle_call(run: Run, called: cst.BaseExpression) -> bool:
    name = _name_of(run, called)
    if name.startswith(("builtins.", *_HARMLESS)):
        return True
    if not isinstance(called, cst.Attribute) or called.attr.value in _PLACES:
        return False
    with run.muted():
        return not (name.startswith("torch.") or isinstance(run.evaluate(called), _CALLED))


def _is_said(run: Run, statements: list[cst.CSTNode]) -> bool:
    """Whether the file at hand only says what machine there is, and asks nothing of it."""
    if run.frame.home != GLOBALS:
        return False
    calls = (one for each in statements for one in descendants(each) if isinstance(one, cst.Call))
    return not any(_name_of(run, one.func).startswith(_HARMLESS) for one in calls)


def _name_of(run: Run, node: cst.BaseExpression) -> str:
    """The full name of what a library or Python itself gives, where this means such a thing."""
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return ""
    with run.muted():
        value = run.evaluate(node)
    return value.name if isinstance(value, ImportedName) else ""
