"""What the code of a function says of its parameters: which of them are tensors.

Only what nothing but a tensor has counts: `x.unsqueeze(0)`, `torch.exp(x)`, a docstring that says
so.  An array has a shape, a module has a `float()`, a frame of pandas has a `sum()`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from devicelint.interpreter.engine.nodes import cached_of_nodes
from devicelint.interpreter.facts.annotations import said_to_be_tensors
from devicelint.interpreter.facts.item_paths import (
    Rebound,
    begins_with_word,
    counted_in,
    dimensions_asked,
    in_reading_order,
    is_whole,
    item_path,
    keeps_dimension,
    root_of,
)
from devicelint.interpreter.facts.name_uses import last_name
from devicelint.interpreter.facts.tensor_api import (
    TENSOR_ATTRIBUTES,
    TENSOR_METHODS,
    is_asked_of_tensors,
    is_of_no_tensor,
    takes_number,
    takes_only_a_tensor,
)

_PASSED_THROUGH = frozenset("clone float squeeze flatten reshape int double abs".split())
"""Methods whose result says something of what they are called on."""
_ARRAYS = frozenset({"np", "numpy", "cv2", "pd"})
"""Arrays, too, are sliced in several dimensions."""
_STATISTICS = frozenset({"running_var", "running_mean"})
"""Only a normalization has these, and then its weight and bias are tensors, too."""
_QUESTIONS = frozenset({"isinstance", "type", "is_tensor", "hasattr", "getattr"})
_FUNCTIONS = {
    "torch": "torch",
    **dict.fromkeys(("F", "nn.functional", "torch.nn.functional"), "torch.nn.functional"),
}
_COMPUTES = (cst.Add, cst.Subtract, cst.Divide, cst.FloorDivide, cst.MatrixMultiply, cst.Multiply)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The origins that are tensors by a function's text, and those that it is itself unsure of."""

    tensors: frozenset[str]
    doubted: frozenset[str]
    ranked: frozenset[str]
    """Those that have a dimension, where they are tensors."""
    matrices: frozenset[str]
    """Those that have two dimensions at least."""
    documented: frozenset[str]
    """The parameters of which the docstring says so."""
    only_said: frozenset[str]
    """Those of which nothing else does."""
    used: frozenset[str]
    """Those that are asked for what numbers do not have, and other things than tensors may."""
    located: frozenset[str]
    """Those that are asked for their device."""
    holders: frozenset[str]
    """Those that are asked for what no tensor has, such as `args.epochs`."""


@cached_of_nodes(1_000)
def evidence_in(node: cst.FunctionDef, names: frozenset[str], first: str = "") -> Evidence:
    """What a function says of the paths that begin with one of the names.

    `first` is the first input of a Module: where it is computed with, it is a tensor.
    """
    found = _Found(names, first)
    for one in in_reading_order(node.body):
        read = _READERS.get(type(one))
        if read is not None:
            read(found, one)
    said = said_to_be_tensors(node.get_docstring(clean=False) or "", names)
    sliced = found.sliced if found.has_torch and not found.has_arrays else set()
    return Evidence(
        frozenset(found.tensors | (found.computed_with - found.counted) | sliced | said),
        frozenset(found.doubted),
        frozenset(found.ranked - found.scalars),
        frozenset(found.matrices - found.vectors),
        said,
        said - found.tensors - found.computed_with - sliced - found.used - found.located,
        frozenset(found.used),
        frozenset(found.located),
        frozenset(found.holders),
    )


@dataclass(eq=False)
class _Found:
    """What is found of a function's parameters on the way through its code."""

    names: frozenset[str]
    first: str
    tensors: set[str] = field(default_factory=set)
    sliced: set[str] = field(default_factory=set)
    doubted: set[str] = field(default_factory=set)
    ranked: set[str] = field(default_factory=set)
    matrices: set[str] = field(default_factory=set)
    vectors: set[str] = field(default_factory=set)
    scalars: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    computed_with: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    """What is given for a number, as the end of a range."""
    used: set[str] = field(default_factory=set)
    located: set[str] = field(default_factory=set)
    holders: set[str] = field(default_factory=set)
    has_torch: bool = False
    has_arrays: bool = False

    def bind(self, node: Rebound) -> None:
        self.bound.update(node.names)

    def is_given(self, path: str) -> bool:
        """Whether a path begins with a parameter that nothing has bound again."""
        root = root_of(path)
        return root in self.names and root not in self.bound

    def treat(self, path: str) -> None:
        """Something is treated as only a tensor can be."""
        if path and self.is_given(path):
            self.tensors.add(path)

    def use(self, path: str) -> None:
        """Something is asked for what numbers do not have."""
        if path and self.is_given(path):
            self.used.add(path)

    def attribute(self, node: cst.Attribute) -> None:
        """`x.is_cuda`, `bn.running_var`; and whether the function has to do with arrays."""
        name, owner = node.attr.value, node.value
        if isinstance(owner, cst.Name):
            self.has_torch |= owner.value == "torch"
            self.has_arrays |= owner.value in _ARRAYS
        path = item_path(owner)
        if name == "device" and path and self.is_given(path):
            self.located.add(path)
        elif is_asked_of_tensors(name, is_called=False):
            self.use(path)
        elif path and self.is_given(path) and is_of_no_tensor(name):
            self.holders.add(path)
        if name in TENSOR_ATTRIBUTES:
            self.treat(_treated(owner))
        elif name in _STATISTICS and path and self.is_given(path):
            self.tensors.add(f"{path}.weight")

    def call(self, node: cst.Call) -> None:
        """`x.unsqueeze(0)`, `torch.exp(x)`, `isinstance(x, Tensor)`, `len(x)`."""
        func = node.func
        given = item_path(node.args[0].value) if _is_positional(node) else ""
        if given and root_of(given) in self.names and last_name(func) in _QUESTIONS:
            self.doubted.add(given)
        if isinstance(func, cst.Attribute):
            self.method(node, func)
            module = _FUNCTIONS.get(item_path(func.value))
            if given and module and takes_only_a_tensor(f"{module}.{func.attr.value}"):
                self.treat(given)
            if module and self.first:
                self.count(node, f"{module}.{func.attr.value}")
        elif given and len(node.args) == 1 and last_name(func) == "len":
            self.rank(given)

    def count(self, node: cst.Call, name: str) -> None:
        """`torch.arange(x)`: the first input of a Module that is given for a number."""
        for position, one in enumerate(node.args):
            is_first = isinstance(one.value, cst.Name) and one.value.value == self.first
            if is_first and one.keyword is None and takes_number(name, position):
                self.counted.add(self.first)

    def method(self, node: cst.Call, func: cst.Attribute) -> None:
        """A method that only tensors have, and what it says of their dimensions."""
        name, path = func.attr.value, item_path(func.value)
        if is_asked_of_tensors(name, is_called=True):
            self.use(path)
        if name in TENSOR_METHODS:
            self.treat(_treated(func.value))
        if name == "unique":
            self.rank(path)
        elif name == "t" and not node.args:
            self.rank(path, is_matrix=True)
        elif name == "size" and node.args:
            self.dimension(path, node.args[0].value)

    def rank(self, path: str, *, is_matrix: bool = False) -> None:
        """Something has dimensions, unless it is by then what a line has made of it."""
        if path and root_of(path) not in self.bound:
            (self.matrices if is_matrix else self.ranked).add(path)

    def dimension(self, path: str, asked: cst.BaseExpression) -> None:
        """One dimension is asked for, of at least as many."""
        number = asked.expression if isinstance(asked, cst.UnaryOperation) else asked
        if isinstance(number, cst.Integer):
            self.rank(path)
            if number is asked and number.value != "0":
                self.rank(path, is_matrix=True)

    def item(self, node: cst.Subscript) -> None:
        """`x[:, 0]`, `x[-1]`, `x.shape[1]`."""
        owner, first = node.value, node.slice[0].slice
        if isinstance(owner, cst.Attribute) and owner.attr.value == "shape":
            self.shape(item_path(owner.value), first)
        path, is_one_of_many = item_path(owner), len(node.slice) > 1
        if not path:
            return
        if not begins_with_word(first):
            self.rank(path)
        if is_whole(first) and dimensions_asked(node) > 1:
            self.rank(path, is_matrix=True)
        if is_one_of_many and keeps_dimension(first) and self.is_given(path):
            self.sliced.add(path)

    def shape(self, path: str, first: cst.BaseSlice) -> None:
        self.rank(path)
        if isinstance(first, cst.Index):
            self.dimension(path, first.value)

    def assignment(self, node: cst.Assign) -> None:
        """`n, d = x`."""
        target = node.targets[0].target
        names = target.elements if isinstance(target, cst.Tuple) else ()
        if len(names) == 2 and all(isinstance(one.value, cst.Name) for one in names):
            self.rank(item_path(node.value), is_matrix=True)

    def compared(self, node: cst.Comparison) -> None:
        """`x.dim() == 0`: what is done elsewhere is not done with each `x`."""
        path, few = counted_in(node)
        self.vectors.add(path)
        if few == "0":
            self.scalars.add(path)

    def computed(self, node: cst.BinaryOperation) -> None:
        if self.first and isinstance(node.operator, _COMPUTES):
            for one in (node.left, node.right):
                self.compute(one)

    def signed(self, node: cst.UnaryOperation) -> None:
        if self.first and isinstance(node.operator, (cst.Minus, cst.Plus)):
            self.compute(node.expression)

    def compute(self, operand: cst.BaseExpression) -> None:
        """What is computed with the first input of a Module."""
        if isinstance(operand, cst.Name) and operand.value == self.first:
            self.computed_with.add(self.first)


_READERS: Mapping[type, Callable[[_Found, Any], None]] = {
    Rebound: _Found.bind,
    cst.Attribute: _Found.attribute,
    cst.Call: _Found.call,
    cst.Subscript: _Found.item,
    cst.Assign: _Found.assignment,
    cst.Comparison: _Found.compared,
    cst.BinaryOperation: _Found.computed,
    cst.UnaryOperation: _Found.signed,
}


def _treated(node: cst.BaseExpression) -> str:
    """`x` of `x` and of `x.float()`."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))):
            return item_path(owner) if name in _PASSED_THROUGH else ""
        case _:
            return item_path(node)


def _is_positional(call: cst.Call) -> bool:
    return bool(call.args) and call.args[0].keyword is None and not call.args[0].star
