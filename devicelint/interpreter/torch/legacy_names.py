"""The names of legacy tensor types, and where they put tensors."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, Known
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import Const, External, Moved, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import method_of_unknown

DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
}
"""The dtype that each legacy type stands for."""

ON_CPU = {f"torch.{kind}Tensor": kind for kind in DTYPES}
ON_CUDA = {f"torch.cuda.{kind}Tensor": kind for kind in DTYPES}


def dtype_of(name: str) -> str | None:
    """The dtype of a legacy type such as `torch.cuda.LongTensor`; None: it is none.

    >>> dtype_of("torch.cuda.LongTensor")
    'int64'
    """
    return DTYPES.get(ON_CUDA.get(name) or ON_CPU.get(name) or "")


def legacy_device(value: Value) -> Known | None:
    """Where a legacy type, or a string that names one, puts tensors; None: it is none."""
    name = value.name if isinstance(value, External) else None
    if isinstance(value, Const) and isinstance(value.value, str):
        name = value.value
    if name in ON_CUDA:
        return Known("cuda")
    return CPU if name in ON_CPU else None


def type_name(value: Value) -> str:
    """The full name of a legacy type, however it was given."""
    return str(value.value) if isinstance(value, Const) else getattr(value, "name", "")


@method_of_unknown("type")
def _typed(run: Run, receiver: Value, node: cst.Call) -> Value | None:
    """`.type(torch.FloatTensor)` of anything is on the CPU; None where no such type is given."""
    given = node.args[0].value if len(node.args) == 1 else None
    device = None if given is None else legacy_device(run.evaluate(given))
    return Moved(CPU, Step(Verb.TYPED, node, CPU)) if device == CPU else None
