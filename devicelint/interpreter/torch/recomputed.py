"""Calls that are made again in the backward pass: `torch.utils.checkpoint.checkpoint`."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.values import Module, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function

_OWN = frozenset(
    "use_reentrant context_fn determinism_check debug early_stop preserve_rng_state".split()
)
"""What checkpoint() takes for itself, and does not give to the function."""


@function("torch.utils.checkpoint.checkpoint")
def call_function(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The function is called with the other arguments, now and again in the backward pass."""
    called = arguments.get(0, "function")
    if called is None:
        return Unknown("no function is given to checkpoint()")
    named = {word: given for word, given in arguments.keywords.items() if word not in _OWN}
    given = replace(arguments, positional=arguments.positional[1:], keywords=named)
    if isinstance(called.value, Module) and isinstance(called.site, cst.BaseExpression):
        # A module is named by what stands before the parenthesis.
        site = cst.Call(called.site, site.args[1:])
    return run.call(called.value, given, site)
