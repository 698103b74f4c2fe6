"""Lists that a loop fills, where some of the rounds put in what stands for nothing.

`kept.append(torch.zeros(0, 4))` for an image without boxes lies on the CPU, and what the other
rounds append comes from the model: whoever puts the list together fails.  What each statement
appends is remembered beside the elements.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.history import Site, Verb
from devicelint.domain.values import ListOf, Tensor, Tuple, Value
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.operands import find_clash, operand_of, report_clash

_ALWAYS, _AT_TIMES = "@appended ", "@appended at times "
_TOGETHER = ("cat(", "stack(", "concat(")


def note_appended(run: Run, kept: ListOf, value: Value, call: cst.Call) -> None:
    """Remember what a statement in a loop appends, and whether it is left out of some rounds."""
    loop = run.frame.loops[-1].node if run.frame.loops else None
    if loop is not None and isinstance(value, (Tensor, Tuple)):
        prefix = _AT_TIMES if _depends_on_round(loop, call) else _ALWAYS
        run.state.write(kept.ref, f"{prefix}{id(call)}", value)


def apart(run: Run, kept: ListOf) -> Sequence[Value]:
    """The tensors that a list was given, where some stand for nothing and lie elsewhere."""
    always, at_times = _appended(run, kept, _ALWAYS), _appended(run, kept, _AT_TIMES)
    empty = [one for one in at_times if _stands_for_nothing(one)]
    others = [one for one in (*always, *at_times) if isinstance(one, Tensor) and one.device != CPU]
    return (*empty[:1], *others[:1]) if empty and others else ()


def check_columns(run: Run, kept: ListOf, site: cst.Call) -> None:
    """`[torch.cat(x) for x in zip(*rows)]`: each column of what was appended is put together."""
    statement = run.frame.statement
    if not isinstance(statement, cst.CSTNode):
        return
    if not any(name in run.code_of(statement) for name in _TOGETHER):
        return
    rows = [*_rows(run, kept, _ALWAYS), *_rows(run, kept, _AT_TIMES)]
    for row in _rows(run, kept, _AT_TIMES):
        for position, value in enumerate(row.items):
            if _stands_for_nothing(value) and _meets(run, site, value, position, rows):
                break


def _meets(run: Run, site: Site, value: Value, position: int, rows: Sequence[Tuple]) -> bool:
    """Report what stands for nothing beside what another row has in its place."""
    for other in rows:
        if len(other.items) > position and isinstance(other.items[position], Tensor):
            pair = [operand_of(one, site) for one in (value, other.items[position])]
            clash = find_clash([(one, False) for one in pair if one is not None])
            if clash is not None:
                report_clash(run, site, "torch.cat", clash)
                return True
    return False


def _appended(run: Run, kept: ListOf, prefix: str) -> list[Value]:
    fields = run.state.fields(kept.ref)
    return [value for name, value in fields.items() if name.startswith(prefix)]


def _rows(run: Run, kept: ListOf, prefix: str) -> list[Tuple]:
    return [one for one in _appended(run, kept, prefix) if isinstance(one, Tuple)]


def _stands_for_nothing(value: Value) -> bool:
    """A tensor with dimensions that was created on the CPU, and nothing has become of."""
    if not isinstance(value, Tensor) or value.since.verb is not Verb.CREATED:
        return False
    return value.device == CPU and value.scalar is False


@functools.lru_cache(maxsize=64)
def _depends_on_round(loop: cst.For | cst.While, call: cst.Call) -> bool:
    """Whether a test of what the round brings decides on a call; its type is that of all rounds."""
    bound = set(_names_bound_by(loop))
    for test in _tests_around(loop, call):
        names = {one.value for one in descendants(test) if isinstance(one, cst.Name)}
        if names & bound and not names & {"isinstance", "type", "hasattr"}:
            return True
    return False


def _tests_around(loop: cst.CSTNode, call: cst.Call) -> Iterator[cst.BaseExpression]:
    for node in descendants(loop):
        if isinstance(node, cst.If) and any(one is call for one in descendants(node)):
            yield node.test


def _names_bound_by(loop: cst.For | cst.While) -> Iterator[str]:
    for node in descendants(loop):
        targets: Collection[cst.CSTNode] = ()
        if isinstance(node, cst.Assign):
            targets = [one.target for one in node.targets]
        elif isinstance(node, cst.For):
            targets = [node.target]
        for target in targets:
            yield from (one.value for one in descendants(target) if isinstance(one, cst.Name))
