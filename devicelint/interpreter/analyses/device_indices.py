"""Device indices: whole numbers by their declaration, tested as conditions although 0 is false."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.events import IndexTested
from devicelint.domain.values import NONE, Const, DeviceIndex, External, Outside, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.run import Run

_OPTIONAL_INTEGER = ("Optional[int]", "int | None", "None | int")
_Test = tuple[cst.CSTNode, str]


@analysis
class DeviceIndices(Analysis):
    """Finds tests of numbers that are used as indices of devices under them."""

    serves = frozenset({IndexTested})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.integers: dict[str, str] = {}
        """What holds a whole number by its declaration, and how to ask whether it was given."""
        self.tests: list[dict[str, _Test]] = []
        """The tests around, the innermost last: which numbers each asks for."""

    def on_option_declared(self, arguments: Arguments) -> None:
        """`parser.add_argument("--gpu", type=int)`: a number, absent where the default says so."""
        kind = arguments.keywords.get("type")
        if kind is None or kind.value != External("builtins.int"):
            return
        dest = arguments.keywords.get("dest")
        for one in arguments.positional if dest is None else (dest,):
            if isinstance(one.value, Const):
                name = str(one.value.value).lstrip("-").replace("-", "_")
                self.integers[f".{name}"] = _is_given(arguments)

    def on_parameter_unknown(self, name: str, parameter: cst.Param) -> None:
        """`gpu: int | None`: a number by its annotation."""
        if parameter.annotation is not None:
            code = self.run.code_of(parameter.annotation.annotation)
            if code.removeprefix("typing.") in _OPTIONAL_INTEGER:
                self.integers[name] = "is not None"

    def on_tested(self, node: cst.CSTNode, value: Value) -> None:
        """`device.index` as a condition: that of GPU 0 is false."""
        if isinstance(value, DeviceIndex):
            self.run.announce(IndexTested(node, "is not None"))

    def on_branching(self, node: cst.BaseExpression) -> None:
        """Where a number is used as an index under a test of it, GPU 0 misses that."""
        self.tests.append(dict(self._tests(node)) if self.integers else {})

    def on_branched(self) -> None:
        """The test no longer holds."""
        self.tests.pop()

    def _tests(self, node: cst.CSTNode) -> Iterator[tuple[str, _Test]]:
        """The numbers that a test takes for conditions: `args.gpu`, `not gpu`, `gpu and …`."""
        if isinstance(node, cst.BooleanOperation):
            yield from self._tests(node.left)
            yield from self._tests(node.right)
        elif isinstance(node, cst.UnaryOperation):
            yield from self._tests(node.expression)
        elif isinstance(node, (cst.Name, cst.Attribute)):
            code = self.run.code_of(node)
            given = self.integers.get(code) or self.integers.get(f".{code.rpartition('.')[2]}")
            if given:
                yield code, (node, given)

    def on_used_as_index(self, value: Value) -> None:
        """A number is used as the index of a device."""
        if not isinstance(value, Outside):
            return
        test = next(
            (one[value.origin] for one in reversed(self.tests) if value.origin in one), None
        )
        if test is not None:
            self.run.announce(IndexTested(*test))


def _is_given(arguments: Arguments) -> str:
    """How to ask for a number where the default stands for none: None, or less than 0."""
    default = arguments.keywords.get("default")
    if default is None or default.value == NONE:
        return "is not None"
    number = default.value.value if isinstance(default.value, Const) else None
    return ">= 0" if isinstance(number, int) and number < 0 else ""
