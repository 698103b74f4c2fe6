"""Functions of libraries that take arrays and tensors alike, and give what they are given."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import ARRAY, Array, Tuple, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.contents import parts_of
from devicelint.interpreter.torch.operations.signatures import apply_signature
from devicelint.knowledge import function as signature_of

_ADDRESSES = ("einops", "einops.einops")
_EINOPS = ("rearrange", "reduce", "repeat", "einsum", "pack", "unpack", "asnumpy")


@function(*(f"{module}.{name}" for module in _ADDRESSES for name in _EINOPS))
def rearranged(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """An array of arrays, and a tensor of tensors, where these are."""
    signature = signature_of(name)
    if signature is None:
        return Unknown(f"{name} is not known")
    made = apply_signature(run, signature, arguments, site, name=name)
    given = [part for argument in arguments for part in _parts(run, argument.value)]
    if not any(isinstance(part, Array) for part in given):
        return made
    return Tuple((ARRAY, *made.items[1:])) if isinstance(made, Tuple) else ARRAY


def _parts(run: Run, value: Value) -> tuple[Value, ...]:
    return (value,) if isinstance(value, Array) else parts_of(run, value)
