"""What annotations and docstrings say of parameters: which of them are tensors."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Collection, Iterable, Sequence
from enum import Enum

import libcst as cst

from devicelint.domain.values import ARRAY, HOST, ImportedName, Stream, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.qualified_names import bound_to
from devicelint.knowledge import kind_of

_ELEMENTS = ("Float", "Double", "Half", "Long", "Int", "Bool", "Byte", "Short")
_TENSORS = frozenset(
    {
        *("torch.Tensor", "torch.tensor.Tensor", "torch.nn.Parameter", "torchtyping.TensorType"),
        *("torch.nn.parameter.Parameter", "torch_geometric.typing.OptTensor"),
        *(f"torch.{kind}Tensor" for kind in _ELEMENTS),
        *(f"torch.cuda.{kind}Tensor" for kind in _ELEMENTS),
    }
)
_UNIONS = frozenset({"typing.Union", "typing.Optional", "typing_extensions.Union"})
_OF_THE_FIRST = frozenset(
    {"typing.Annotated", "typing_extensions.Annotated", "typing.Final", "torchtyping.TensorType"}
)
"""Of these, the first argument is the type."""
_SHAPED = frozenset({"jaxtyping"})
"""Libraries whose types are of shapes: `Float[Tensor, "batch channel"]`."""
_ANYTHING = frozenset({"typing.Any", "typing_extensions.Any", "builtins.object"})
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


class Annotated(Enum):
    """What an annotation says that a parameter is, if it is given at all."""

    TENSOR = "tensor"
    HOLDER = "holder"
    """Something that holds tensors and is moved as a whole: a graph."""
    OPEN = "open"
    OTHER = "other"


def annotated(run: Run, parameter: cst.Param) -> Annotated | None:
    """What the annotation of a parameter says; None where it has none.

    A name counts for what it is bound to: `Tensor` for torch's, where it was imported from there.
    """
    annotation = parameter.annotation
    return None if annotation is None else _meaning(run, annotation.annotation)


def is_annotated_tensor(run: Run, parameter: cst.Param) -> bool:
    """Whether the annotation of a parameter says that it is a tensor."""
    return annotated(run, parameter) is Annotated.TENSOR


_NUMBERS = frozenset({"float", "int", "bool", "complex"})
_ARRAYS = frozenset({"numpy.ndarray", "numpy.typing.NDArray"})
_LISTS = frozenset({"list", "tuple", "typing.List", "typing.Tuple"})
_SEQUENCES = frozenset(
    f"{module}.{name}"
    for module in ("typing", "collections.abc")
    for name in ("Sequence", "Iterable", "Collection", "MutableSequence")
)


def said_to_be_on_host(run: Run, parameter: cst.Param) -> Value | None:
    """The number, the array or the list of these that a parameter is by its annotation."""
    annotation = parameter.annotation
    return None if annotation is None else _on_host(run, annotation.annotation)


def _on_host(run: Run, node: cst.BaseExpression) -> Value | None:
    match node:
        case cst.SimpleString(value=written) if (quoted := _unquoted(written)) is not None:
            return _on_host(run, quoted)
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return _one_on_host(run, (left, right))
        case cst.Subscript(value=owner, slice=slices):
            name = _type_name(run, owner)
            given = [one.slice.value for one in slices if isinstance(one.slice, cst.Index)]
            if name in _UNIONS:
                return _one_on_host(run, given)
            if name in _ARRAYS:
                return ARRAY
            held = _one_on_host(run, given) if name in _LISTS | _SEQUENCES else None
            return None if held is None else Stream(held)
        case cst.Name() | cst.Attribute():
            name = _type_name(run, node)
            if name in _NUMBERS:
                return HOST
            return ARRAY if name in _ARRAYS else None
        case _:
            return None


def _one_on_host(run: Run, kinds: Iterable[cst.BaseExpression]) -> Value | None:
    """What one of several is, None and `...` aside: of two kinds, no more than that."""
    kinds = [one for one in kinds if not (_is_none(one) or isinstance(one, cst.Ellipsis))]
    said = [_on_host(run, one) for one in kinds]
    if not said or any(one is None for one in said):
        return None
    return said[0] if all(one == said[0] for one in said) else HOST


def _type_name(run: Run, node: cst.BaseExpression) -> str:
    """The name of a type: that of an import, or of what Python itself has."""
    if isinstance(node, cst.Name) and bound_to(run, node.value) is None:
        return node.value
    return _full_name(run, node)


def may_be_none(run: Run, parameter: cst.Param) -> bool:
    """Whether a parameter says that it may be None: by its default, or by its annotation."""
    if parameter.default is not None:
        return _is_none(parameter.default)
    annotation = parameter.annotation
    return annotation is not None and _offers_none(run, annotation.annotation)


def _offers_none(run: Run, node: cst.BaseExpression) -> bool:
    match node:
        case cst.SimpleString(value=written) if (quoted := _unquoted(written)) is not None:
            return _offers_none(run, quoted)
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return _offers_none(run, left) or _offers_none(run, right)
        case cst.Subscript(value=owner, slice=slices):
            name = _full_name(run, owner)
            given = [one.slice.value for one in slices if isinstance(one.slice, cst.Index)]
            is_union = name in _UNIONS and any(_offers_none(run, one) for one in given)
            return is_union or name == "typing.Optional"
        case _:
            return _is_none(node)


def _meaning(run: Run, node: cst.BaseExpression) -> Annotated:
    match node:
        case cst.SimpleString(value=written) if (quoted := _unquoted(written)) is not None:
            return _meaning(run, quoted)
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return _either(run, (left, right))
        case cst.Subscript(value=owner, slice=slices):
            given = [one.slice.value for one in slices if isinstance(one.slice, cst.Index)]
            return _subscripted(run, _full_name(run, owner), given)
        case cst.Name(name) if not _is_bound(run, name):
            return Annotated.OPEN
        case cst.Name() | cst.Attribute():
            return _named(_full_name(run, node))
        case _:
            return Annotated.OTHER


def _either(run: Run, kinds: Iterable[cst.BaseExpression]) -> Annotated:
    """What one of several is: None aside, they have to agree."""
    said = {_meaning(run, one) for one in kinds if not _is_none(one)}
    return said.pop() if len(said) == 1 else Annotated.OTHER


def _subscripted(run: Run, name: str, given: Sequence[cst.BaseExpression]) -> Annotated:
    if name in _UNIONS:
        return _either(run, given)
    is_first = name in _OF_THE_FIRST or name.partition(".")[0] in _SHAPED
    return _meaning(run, given[0]) if is_first and given else _named(name)


def _named(name: str) -> Annotated:
    if name in _ANYTHING:
        return Annotated.OPEN
    if kind_of(name) == "bundle":
        return Annotated.HOLDER
    return Annotated.TENSOR if name in _TENSORS else Annotated.OTHER


def _full_name(run: Run, node: cst.BaseExpression) -> str:
    """What a name was imported as; empty for what is no import."""
    with run.muted():
        value = run.evaluate(node)
    return value.name if isinstance(value, ImportedName) else ""


def _is_bound(run: Run, name: str) -> bool:
    """Whether it is known what a name stands for: not one that a `*` imports from files unseen."""
    return bound_to(run, name) is not None or hasattr(builtins, name)


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


@functools.lru_cache(maxsize=1_000)
def _unquoted(written: str) -> cst.BaseExpression | None:
    """The expression in a string; None for one that holds none."""
    try:
        return cst.parse_expression(ast.literal_eval(written).strip())
    except (cst.ParserSyntaxError, SyntaxError, ValueError, AttributeError):
        return None
