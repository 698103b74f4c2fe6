"""Attention that may project queries, keys and values apart: some arguments are ignored then."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.values import NONE, Const, Unknown, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.torch.operations.signatures import apply_signature
from devicelint.knowledge import function as signature_of

_CHOICE = (17, "use_separate_proj_weight")
_TOGETHER = ((5, "in_proj_weight"),)
"""What is computed with where the projections are not separate."""
_APART = ((18, "q_proj_weight"), (19, "k_proj_weight"), (20, "v_proj_weight"))
"""What is computed with where they are."""


@function("torch.nn.functional.multi_head_attention_forward")
def attend(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What the choice between the two ways to project leaves unused may lie anywhere."""
    signature = signature_of(name)
    if signature is None:
        return Unknown(f"{name} is not known")
    chosen = arguments.get(*_CHOICE)
    value = Const(False) if chosen is None else chosen.value
    unused: tuple[tuple[int, str], ...] = ()
    if not (isinstance(value, Const) and not bool(value.value)):
        unused += _TOGETHER
    if not (isinstance(value, Const) and bool(value.value)):
        unused += _APART
    return apply_signature(run, signature, _without(arguments, unused), site, name=name)


def _without(arguments: Arguments, unused: tuple[tuple[int, str], ...]) -> Arguments:
    places, words = zip(*unused, strict=True)
    positional = [
        Argument(one.site, NONE) if place in places else one
        for place, one in enumerate(arguments.positional)
    ]
    keywords = {word: one for word, one in arguments.keywords.items() if word not in words}
    return replace(arguments, positional=positional, keywords=keywords)
