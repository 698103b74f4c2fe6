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
    answer = _answer(_kinds(asked[0]), outcome)
    return () if answer is None else (((IS_TENSOR, subject.origin), answer),)


def _answer(kinds: tuple[Value, ...], outcome: bool) -> bool | None:
    """Whether what is of some kinds, or of none of them, is a tensor."""
    if _TENSOR in kinds:
        return outcome if len(kinds) == 1 or not outcome else None
    return False if outcome and all(map(_is_apart, kinds)) else None


def _is_apart(kind: Value) -> bool:
    """Whether a class is of another library than torch, and no tensor is of that."""
    if not isinstance(kind, ImportedName):
        return False
    return kind.name != "builtins.object" and not kind.name.startswith("torch.")


def _values(node: cst.Call) -> tuple[cst.BaseExpression, ...]:
    return tuple(one.value for one in node.args)


def _kinds(asked: Value) -> tuple[Value, ...]:
    return asked.items if isinstance(asked, Tuple) else (asked,)
