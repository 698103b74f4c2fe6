"""What annotations and docstrings say of parameters: which of them are tensors."""

from __future__ import annotations

import re
from collections.abc import Collection

_KINDS = ("Float", "Double", "Half", "Long", "Int", "Bool", "Byte", "Short")
_TENSORS = frozenset({"Tensor", "OptTensor", *(f"{kind}Tensor" for kind in _KINDS)})
_SHAPED = frozenset({"Float", "Int", "Bool", "Shaped", "Num", "Inexact"})
"""Types of jaxtyping: `Float[Tensor, "batch channel"]`."""
_GRAPHS = frozenset({"Data", "HeteroData", "BaseData", "Batch", "DGLGraph", "DGLHeteroGraph"})
_TENSOR = r"(?:torch\s*\.\s*)?(?:Float|Double|Half|Long|Int|Bool|Byte|Short)?Tensor"
_SAID = re.compile(
    rf"^\s*(\w+)\s*(?:\(|:\s*)(?::\w+:)?[`~]*{_TENSOR}`*(?:[,.][^\n]*|\)?\s*:?[^\n|]*)?$",
    re.MULTILINE,
)
"""A line of a docstring: `x (Tensor): the input`."""
_ALTERNATIVE = re.compile(
    r"ndarray|numpy|\blist\b|\bor\b|\bint\b|\bfloat\b|sequence|\btuple\b|str\b|\|", re.IGNORECASE
)


def said_to_be_tensors(docstring: str, names: Collection[str]) -> frozenset[str]:
    """The parameters of which a docstring says that they are tensors, and nothing else."""
    found = _SAID.finditer(docstring) if "Tensor" in docstring else ()
    return frozenset(m[1] for m in found if m[1] in names and not _ALTERNATIVE.search(m[0]))


def is_tensor_type(written: str) -> bool:
    """Whether an annotation says that a parameter is a tensor, if it is given at all."""
    plain = "".join(written.split()).replace('"', "").replace("'", "").removeprefix("typing.")
    if plain.startswith("Optional[") and plain.endswith("]"):
        plain = plain[len("Optional[") : -1]
    kinds = [one.removeprefix("torch.") for one in plain.split("|") if one != "None"]
    if len(kinds) != 1:
        return False
    shaped, _, inner = kinds[0].partition("[")
    return kinds[0] in _TENSORS or (
        shaped in _SHAPED and inner.removeprefix("torch.").startswith("Tensor,")
    )


def is_open_type(written: str) -> bool:
    """Whether an annotation leaves open what it is."""
    return written in ("Any", "typing.Any", "object")


def is_graph_type(written: str) -> bool:
    """Whether an annotation names a graph, which holds tensors."""
    words = "".join(one if one.isidentifier() or one.isdigit() else " " for one in written).split()
    return not _GRAPHS.isdisjoint(words)
