"""Device indices: whole numbers by their declaration, tested as conditions although 0 is false."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.events import IndexTested
from devicelint.domain.values import NONE, Const, DeviceIndex, ImportedName, Symbolic, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.run import Run

_OPTIONAL_INTEGER = ("Optional[int]", "int | None", "None | int")


@analysis
class DeviceIndices(Analysis):
    """Notes what is a number by its declaration, and the tests under which it is used."""

    serves = frozenset({IndexTested})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._integers: dict[str, str] = {}
        """What holds a whole number by its declaration, and how to ask whether it was given."""
        self._tests: list[dict[str, tuple[cst.CSTNode, str]]] = []
        """The tests around that ask whether a number is true, innermost last."""

    def on_option(self, arguments: Arguments) -> None:
        """`parser.add_argument("--gpu", type=int)`: a number, absent where the default says so."""
        kind = arguments.keywords.get("type")
        if kind is None or kind.value != ImportedName("builtins.int"):
            return
        by_name = "dest" in arguments.keywords
        for one in [arguments.keywords["dest"]] if by_name else arguments.positional:
            if isinstance(one.value, Const):
                name = str(one.value.value).lstrip("-").replace("-", "_")
                self._integers[f".{name}"] = _is_given(arguments)

    def on_parameter(self, name: str, parameter: cst.Param) -> None:
        """`gpu: int | None`: a number by its annotation."""
        if parameter.annotation is not None:
            code = self.run.code_of(parameter.annotation.annotation)
            if code.removeprefix("typing.") in _OPTIONAL_INTEGER:
                self._integers[name] = "is not None"

    def on_tested(self, node: cst.BaseExpression, value: Value) -> None:
        """`device.index` as a condition: that of GPU 0 is false."""
        if isinstance(value, DeviceIndex):
            self.run.announce(IndexTested(node, "is not None"))

    def on_branches_entered(self, test: cst.BaseExpression) -> None:
        """Where a number is used as an index in the branches of its test, GPU 0 misses it."""
        outer = self._tests[-1] if self._tests else {}
        found = dict(self._tested(test)) if self._integers else {}
        self._tests.append({**outer, **found} if found else outer)

    def on_branches_left(self) -> None:
        """The tests around are those before."""
        self._tests.pop()

    def on_index_used(self, value: Value) -> None:
        """A number is used as the index of a device."""
        tests = self._tests[-1] if self._tests else {}
        test = tests.get(value.origin) if isinstance(value, Symbolic) else None
        if test is not None:
            self.run.announce(IndexTested(*test))

    def _tested(self, node: cst.CSTNode) -> Iterator[tuple[str, tuple[cst.CSTNode, str]]]:
        """The numbers that a test takes for conditions: `args.gpu`, `not gpu`, `gpu and …`."""
        if isinstance(node, cst.BooleanOperation):
            yield from self._tested(node.left)
            yield from self._tested(node.right)
        elif isinstance(node, cst.UnaryOperation):
            yield from self._tested(node.expression)
        elif isinstance(node, (cst.Name, cst.Attribute)):
            code = self.run.code_of(node)
            held = self._integers.get(code)
            given = held or self._integers.get(f".{code.rpartition('.')[2]}")
            if given:
                yield self._origin(code), (node, given)

    def _origin(self, code: str) -> str:
        """What a value calls itself, whatever the variable is called that holds its owner."""
        name, dot, rest = code.partition(".")
        owner = self.run.lookup(name)
        return f"{owner.origin}{dot}{rest}" if isinstance(owner, Symbolic) else code


def _is_given(arguments: Arguments) -> str:
    """How to ask for a number where the default stands for none: None, or less than 0."""
    default = arguments.keywords.get("default")
    if default is None or default.value == NONE:
        return "is not None"
    number = default.value.value if isinstance(default.value, Const) else None
    return ">= 0" if isinstance(number, int) and number < 0 else ""
