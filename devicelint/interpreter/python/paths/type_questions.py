"""Conditions that ask whether something is a tensor: what their answers say of it on a path."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import Fact, ImportedName, Symbolic, Tuple, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.name_uses import last_name
from devicelint.interpreter.facts.tensor_parameters import IS_TENSOR

_TENSOR = ImportedName("torch.Tensor")
_QUESTIONS = {"isinstance": "builtins.isinstance", "is_tensor": "torch.is_tensor"}


def type_answers(run: Run, node: cst.BaseExpression, outcome: bool) -> tuple[Fact, ...]:
    """What `isinstance(x, torch.Tensor)` says of `x`, which a caller gives, by how it came out."""
    if not isinstance(node, cst.Call) or last_name(node.func) not in _QUESTIONS:
        return ()
    with run.muted():
        question, *given = (run.evaluate(one) for one in (node.func, *_values(node)))
        asked = given[1:] or [_TENSOR]
        subject = given[0] if given else None
    if getattr(question, "name", "") != _QUESTIONS[last_name(node.func)]:
        return ()
    if not isinstance(subject, Symbolic) or subject.since is None:
        return ()
    kinds = _kinds(asked[0])
    if _TENSOR not in kinds or (outcome and len(kinds) > 1):
        return ()
    return (((IS_TENSOR, subject.origin), outcome),)


def _values(node: cst.Call) -> tuple[cst.BaseExpression, ...]:
    return tuple(one.value for one in node.args)


def _kinds(asked: Value) -> tuple[Value, ...]:
    return asked.items if isinstance(asked, Tuple) else (asked,)
