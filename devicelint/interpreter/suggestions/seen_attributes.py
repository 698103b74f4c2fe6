"""Attributes that an object has, as far as its class is seen."""

from __future__ import annotations

from devicelint.domain.values import Class, Module, Value
from devicelint.interpreter.engine.objects import CLASS_FIELD, is_seen_to_have
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.classes import has_unseen_base


def keeps(run: Run, owner: Value, name: str) -> bool:
    """Whether a Module has an attribute; `device` is none that torch's own would give it."""
    if not isinstance(owner, Module):
        return True
    cls = run.state.read(owner.ref, CLASS_FIELD)
    if not isinstance(cls, Class) or has_unseen_base(cls):
        return True
    return is_seen_to_have(run, owner, name)
