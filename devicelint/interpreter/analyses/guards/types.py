"""Types of tensors under the program's own conditions: `Tensor = torch.cuda.FloatTensor if …`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.guard_events import ChosenType
from devicelint.domain.values import ImportedName
from devicelint.interpreter.analyses.guards.bindings import bindings_of
from devicelint.interpreter.analyses.guards.conditions import Asked, asked_by, scope_around
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.name_uses import Reads
from devicelint.interpreter.torch.legacy_types import dtype_of, legacy_device


def chosen_types(run: Run, reads: Reads) -> Iterator[tuple[Asked, ChosenType]]:
    """The types that conditions choose, where nothing but tensors is made with them."""
    for node in tuple(reads.around):
        if not isinstance(node, (cst.If, cst.IfExp)):
            continue
        for name, yes, no in _alternatives(reads, node):
            one, two = _type(run, yes), _type(run, no)
            if one is None or two is None or one[0] == two[0] or one[1] != two[1]:
                continue
            asked = asked_by(run, reads, node, moved=one[0])
            found = _used(reads, node, name, (one[1], reads.code(no if one[0] else yes)))
            if asked is not None and found is not None:
                yield asked, found


def _alternatives(
    reads: Reads, node: cst.If | cst.IfExp
) -> Iterator[tuple[str, cst.BaseExpression, cst.BaseExpression]]:
    """The names that get one of two values, and nothing else happens."""
    match node, reads.around.get(node):
        case cst.IfExp(), cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))]):
            yield name, node.body, node.orelse
        case cst.If(orelse=cst.Else(body=other)), cst.Module() | cst.IndentedBlock():
            one, two = _given(node.body), _given(other)
            if one is not None and two is not None and one.keys() == two.keys():
                yield from ((name, one[name], two[name]) for name in one)
        case _:
            return


def _given(suite: cst.BaseSuite) -> dict[str, cst.BaseExpression] | None:
    """What the names get that a block assigns to; None where it does anything else."""
    given: dict[str, cst.BaseExpression] = {}
    for line in suite.body:
        match line:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))], value=value)]
            ):
                given[name] = value
            case _:
                return None
    return given


def _type(run: Run, node: cst.BaseExpression) -> tuple[bool, str] | None:
    """Whether a legacy type is CUDA's, and its name without the module; None: it is none."""
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    with run.muted():
        value = run.evaluate(node)
    device = legacy_device(value) if isinstance(value, ImportedName) else None
    if isinstance(value, ImportedName) and value.name == "torch.Tensor":
        return False, "FloatTensor"
    if device is None or not isinstance(value, ImportedName):
        return None
    return device != CPU, value.name.rpartition(".")[2]


def _used(
    reads: Reads, node: cst.If | cst.IfExp, name: str, kind: tuple[str, str]
) -> ChosenType | None:
    dtype = dtype_of(f"torch.{kind[0]}")
    statement = node if isinstance(node, cst.If) else reads.around[node]
    once = 1 + isinstance(node, cst.If)
    scope = scope_around(reads, node)
    if dtype is None or len(list(bindings_of(reads, scope, cst.Name(name)))) != once:
        return None
    made: list[cst.Call] = []
    converted: list[cst.Call] = []
    for read in reads.names[name]:
        match read, reads.around[read]:
            case _, cst.Call(func=func) as call if func is read and call.args:
                made.append(call)
            case _, cst.Arg(keyword=None, star="") as given:
                outer = reads.around[given]
                if not isinstance(outer, cst.Call) or not _converts(outer):
                    return None
                converted.append(outer)
            case _:
                return None
    return ChosenType(node, statement, kind[1], dtype, tuple(made), tuple(converted))


def _converts(call: cst.Call) -> bool:
    return (
        isinstance(call.func, cst.Attribute)
        and call.func.attr.value == "type"
        and len(call.args) == 1
    )
