"""`copy.copy`: another object that holds the same things."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.values import Bundle, DictOf, Instance, ListOf, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function


@function("copy.copy")
def shallow_copy(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What is put into the copy, or moved in it, stays as it was in the original."""
    given = arguments.get(0, "x")
    if given is None:
        return Unknown("a copy of nothing")
    value = given.value
    if not isinstance(value, (Bundle, DictOf, Instance, ListOf)):
        return value
    held = tuple(run.state.fields(value.ref).items())
    copied = replace(value, ref=run.allocate(site, f"copy of {value.ref}"))
    for field, one in held:
        run.state.write(copied.ref, field, one)
    return copied
