"""Device indices: whole numbers by their declaration, tested as conditions although 0 is false."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst

from devicelint.domain.events import IndexTested
from devicelint.domain.values import NONE, Const, DeviceIndex, External, Outside, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run

_OPTIONAL_INTEGER = ("Optional[int]", "int | None", "None | int")


def declare_option(run: Run, arguments: Arguments) -> None:
    """`parser.add_argument("--gpu", type=int)`: a number, absent where the default says so."""
    kind = arguments.keywords.get("type")
    if kind is None or kind.value != External("builtins.int"):
        return
    named = [arguments.keywords["dest"]] if "dest" in arguments.keywords else arguments.positional
    for one in named:
        if isinstance(one.value, Const):
            name = str(one.value.value).lstrip("-").replace("-", "_")
            run.integers[f".{name}"] = _is_given(arguments)


def _is_given(arguments: Arguments) -> str:
    """How to ask for a number where the default stands for none: None, or less than 0."""
    default = arguments.keywords.get("default")
    if default is None or default.value == NONE:
        return "is not None"
    number = default.value.value if isinstance(default.value, Const) else None
    return ">= 0" if isinstance(number, int) and number < 0 else ""


def declare_parameter(run: Run, name: str, parameter: cst.Param) -> None:
    """`gpu: int | None`: a number by its annotation."""
    if parameter.annotation is not None:
        code = run.code_of(parameter.annotation.annotation)
        if code.removeprefix("typing.") in _OPTIONAL_INTEGER:
            run.integers[name] = "is not None"


@contextmanager
def testing(run: Run, node: cst.BaseExpression, condition: Value) -> Iterator[None]:
    """Walk the branches of a test: where a number is used there as an index, GPU 0 misses it."""
    note_index_tested(run, node, condition)
    if not run.integers:
        yield
        return
    outer = run.index_tests
    run.index_tests = {**outer, **dict(_tests(run, node))}
    try:
        yield
    finally:
        run.index_tests = outer


def _tests(run: Run, node: cst.CSTNode) -> Iterator[tuple[str, tuple[cst.CSTNode, str]]]:
    """The numbers that a test takes for conditions: `args.gpu`, `not gpu`, `gpu and …`."""
    if isinstance(node, cst.BooleanOperation):
        yield from _tests(run, node.left)
        yield from _tests(run, node.right)
    elif isinstance(node, cst.UnaryOperation):
        yield from _tests(run, node.expression)
    elif isinstance(node, (cst.Name, cst.Attribute)):
        code = run.code_of(node)
        given = run.integers.get(code) or run.integers.get(f".{code.rpartition('.')[2]}")
        if given:
            yield code, (node, given)


def note_index_tested(run: Run, node: cst.CSTNode, value: Value) -> None:
    """`device.index` as a condition: that of GPU 0 is false."""
    if isinstance(value, DeviceIndex):
        run.announce(IndexTested(node, "is not None"))


def use_index(run: Run, value: Value) -> None:
    """A number is used as the index of a device."""
    test = run.index_tests.get(value.origin) if isinstance(value, Outside) else None
    if test is not None:
        run.announce(IndexTested(*test))
