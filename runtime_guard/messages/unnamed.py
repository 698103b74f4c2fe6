"""What a line computes with that no variable holds: tensors it makes, and what its calls return."""

from __future__ import annotations

import ast
import textwrap
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING

from torch import Tensor

from runtime_guard.messages.creation import is_factory
from runtime_guard.messages.expressions import running_part, value_of

if TYPE_CHECKING:
    from runtime_guard.messages.frames import Step

_MOVES = frozenset({"to", "cuda", "cpu", "type_as"})
_OF_A_NUMBER = (".tensor", ".as_tensor", ".scalar_tensor")


class Unnamed:
    """The calls in the failing part of a line whose results have no name.

    Attributes:
        made: those of torch's factories that say no device, and do not make a number.
        returned: those of which it is not known where their result is.
    """

    def __init__(self, step: Step) -> None:
        self.made: list[str] = []
        self.returned: list[str] = []
        self._step = step
        self._text = textwrap.dedent(running_part(step)).strip()
        with suppress(SyntaxError, ValueError):  # The head of a block is no statement by itself.
            for statement in ast.parse(self._text).body:
                self._visit(statement, is_running=True)

    def _visit(self, node: ast.AST, *, is_running: bool) -> None:
        """Look into what is operated on; `is_running` until the operation that failed is met."""
        if isinstance(node, (ast.Lambda, ast.comprehension)):
            return
        if isinstance(node, ast.Call) and not self._is_looked_into(node, is_running=is_running):
            return
        running = is_running and not isinstance(node, (ast.Call, ast.BinOp, ast.Compare))
        for child in ast.iter_child_nodes(node):
            self._visit(child, is_running=running)

    def _is_looked_into(self, call: ast.Call, *, is_running: bool) -> bool:
        name = ast.unparse(call.func)
        if is_factory(name):
            if all(keyword.arg != "device" for keyword in call.keywords) and not _is_number(call):
                self.made.append(self._source(call))
            return False
        if is_running:
            return True
        if name.rpartition(".")[2] in _MOVES:
            return False
        if self._is_of_torch(call.func):
            return True
        self.returned.append(self._source(call))
        return False

    def _source(self, call: ast.Call) -> str:
        written = ast.get_source_segment(self._text, call) or ""
        return ast.unparse(call) if "\n" in written else written

    def _is_of_torch(self, function: ast.expr) -> bool:
        """Whether it is a function of torch's, or a method of a tensor or of what is returned."""
        if not isinstance(function, ast.Attribute):
            value = value_of(self._step, ast.unparse(function))
            return (getattr(value, "__module__", None) or "").partition(".")[0] == "torch"
        if isinstance(function.value, (ast.Call, ast.BinOp)):
            return True
        value = value_of(self._step, ast.unparse(function.value))
        if isinstance(value, ModuleType):
            return value.__name__.partition(".")[0] == "torch"
        return isinstance(value, Tensor)


def _is_number(call: ast.Call) -> bool:
    """Whether it makes a tensor of no dimension, which may be on the CPU."""
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Constant) and ast.unparse(call.func).endswith(_OF_A_NUMBER)
