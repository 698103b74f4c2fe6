"""The questions that conditions ask, and what their answers say of each other.

A condition asks the same question again where nothing that it reads was bound in between.  One that
calls what may answer otherwise each time asks a question of its own whenever it is reached.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable

import libcst as cst

from devicelint.domain.values import Fact, Path
from devicelint.interpreter.engine.nodes import children, descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_settings import asks_for_device
from devicelint.interpreter.facts.name_uses import last_name
from devicelint.interpreter.python.paths.device_questions import device_answers, known_of_device
from devicelint.interpreter.python.paths.kinds import kind_answers
from devicelint.interpreter.python.paths.named_in_questions import known_of_known
from devicelint.interpreter.python.paths.size_questions import size_answers

_PURE = frozenset(
    "isinstance issubclass is_tensor hasattr callable is_available dim size numel nelement "
    "is_floating_point is_complex startswith endswith is_cuda device_count type get_device".split()
)
"""What gives the same answer as long as it is asked about the same values."""
_READ = (
    *(cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.SimpleString, cst.Arg),
    *(cst.Comparison, cst.ComparisonTarget, cst.BooleanOperation, cst.UnaryOperation, cst.Tuple),
    *(cst.Element, cst.BinaryOperation, cst.BaseCompOp, cst.BaseBooleanOp, cst.BaseUnaryOp),
    cst.BaseBinaryOp,
)


def answers_to(run: Run, node: cst.BaseExpression) -> tuple[Path, Path]:
    """What a condition and its parts say where it holds, and where it does not."""
    asked = node
    while isinstance(asked, cst.UnaryOperation) and isinstance(asked.operator, cst.Not):
        asked = asked.expression
    run.tests[question_of(run, asked)] = asked
    holds, fails = _answers(run, node)
    return frozenset(holds), frozenset(fails)


def taken_for_true(run: Run) -> tuple[tuple[str, bool], ...]:
    """The conditions that have to come out so for a statement to get the values it is walked for.

    Those that lead to the statement itself are not among them.
    """
    found = [
        (" ".join(run.code_of(run.tests[asked]).split()), answer)
        for asked, answer in run.state.taken
        if asked in run.tests and isinstance(answer, bool)
    ]
    return tuple(sorted(found))


def _answers(run: Run, node: cst.BaseExpression) -> tuple[list[Fact], list[Fact]]:
    """What is said by a condition that holds, and by one that does not."""
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        said_otherwise = _answers(run, node.expression)
        return said_otherwise[1], said_otherwise[0]
    holds: list[Fact] = []
    fails: list[Fact] = []
    both = node if type(node) is cst.BooleanOperation else None
    is_and = both is not None and type(both.operator) is cst.And
    if both is not None and is_and:
        holds += _of_sides(run, both, 0)
    for said in (device_answers(run, node), size_answers(run, node), kind_answers(run, node)):
        holds += said[0]
        fails += said[1]
    if both is not None and not is_and:
        fails += _of_sides(run, both, 1)
    question = question_of(run, node)
    return [*holds, (question, True)], [*fails, (question, False)]


def _of_sides(run: Run, node: cst.BooleanOperation, outcome: int) -> list[Fact]:
    """What both sides of a condition say that has come out as both of them have."""
    return [*_answers(run, node.left)[outcome], *_answers(run, node.right)[outcome]]


def known_answer(run: Run, node: cst.BaseExpression) -> bool | None:
    """The answer that this path has given already, or None."""
    facts = run.state.facts
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        known = known_answer(run, node.expression)
        return None if known is None else not known
    if type(node) is cst.BooleanOperation:
        decides = type(node.operator) is cst.Or
        if decides in (known_answer(run, node.left), known_answer(run, node.right)):
            return decides
    if not facts and run.world.accelerators:
        return known_of_known(run, node)
    for known_of in (known_of_known, known_of_device):
        of_device = known_of(run, node)
        if of_device is not None:
            return of_device
    answer = facts.get(question_of(run, node)) if facts else None
    return answer if isinstance(answer, bool) else None


def question_of(run: Run, node: cst.BaseExpression) -> Hashable:
    """What a condition asks: its text, and when what it reads was bound.

    One that is asked at this moment alone is told apart by its address: nodes hash slowly.
    """
    read = _read_by(run, node)
    if read is None:
        return (id(node), run.moment)
    return (run.code_of(node), run.frame, *(_version(run, name) for name in read))


def is_asked_anew(run: Run, question: Hashable, moment: int) -> bool:
    """Whether what a question asks about was bound at a moment or after it: no device is asked."""
    node = run.tests.get(question)
    if node is None or asks_for_device(run, node):
        return False
    names = (one.value for one in descendants(node) if type(one) is cst.Name)
    return any(run.frame.last_bound.get(name, -1) >= moment for name in names)


def _read_by(run: Run, node: cst.BaseExpression) -> tuple[str, ...] | None:
    """The names and attributes on which a condition depends; None where it may change by itself."""
    known = run.program.asked.get(node, ())
    if known == ():
        known = run.program.asked[node] = _read(node)
    return known


def _read(condition: cst.BaseExpression) -> tuple[str, ...] | None:
    read: list[str] = []
    waiting: list[cst.CSTNode] = [condition]
    while waiting:
        node = waiting.pop()
        if type(node) is cst.Call:
            if last_name(node.func) not in _PURE:
                return None
        elif not _is_read(type(node)):
            return None
        if type(node) is cst.Name:
            read.append(node.value)
        if type(node) is cst.Attribute:
            read.append(f".{node.attr.value}")
            waiting.append(node.value)
        else:
            waiting.extend([node.value] if type(node) is cst.Arg else children(node))
    return tuple(read) or ("",)


@functools.cache
def _is_read(kind: type[cst.CSTNode]) -> bool:
    """Whether nodes of a kind only read what stands below them."""
    return issubclass(kind, _READ)


def _version(run: Run, name: str) -> int:
    """The moment at which a name was bound, or an attribute of that name of whatever object."""
    if name.startswith("."):
        return run.stored.get(name[1:], 0)
    frame = run.frame
    if name in frame.last_bound:
        return frame.last_bound[name]
    while frame.caller is not None:
        frame = frame.caller
    return frame.last_bound.get(name, 0)
