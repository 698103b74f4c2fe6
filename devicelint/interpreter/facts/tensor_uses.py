"""Whether a function uses what it is given as a tensor: what only a tensor has shows that."""

from __future__ import annotations

import libcst as cst

from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run

_FIELDS = frozenset({"device", "dtype", "ndim", "is_cuda"})
_METHODS = frozenset(
    "size dim view reshape permute unsqueeze squeeze transpose contiguous detach numel t float "
    "long repeat flatten type_as cuda cpu to matmul mean bmm".split()
)
_FAMILIES = ("shape", "requires_grad", "expand", "new_", "masked_fill")


def is_used_as_tensor(run: Run, origin: str) -> bool:
    """Whether a function that led here asks `origin` for what only a tensor has."""
    frame: Frame | None = run.frame
    while frame is not None:
        if isinstance(frame.node, (cst.FunctionDef, cst.Module)):
            found = map(_asked_as_tensor, descendants(frame.node))
            if any(one is not None and run.code_of(one) == origin for one in found):
                return True
        frame = frame.caller
    return False


def _asked_as_tensor(node: cst.CSTNode) -> cst.BaseExpression | None:
    """What a node takes for a tensor: `x` in `x.shape` and in `x.view(2, 3)`."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return node.func.value if node.func.attr.value in _METHODS else None
    if isinstance(node, cst.Attribute):
        name = node.attr.value
        return node.value if name in _FIELDS or name.startswith(_FAMILIES) else None
    return None
