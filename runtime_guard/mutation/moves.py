"""The moves of a script: what it writes so that data lies on another device.

A move is one expression, or one argument of a call. Taking it out leaves a program that says
nothing of the device there. No other byte of it changes, and each line keeps its number. What
stands inside an f-string is left alone, and so is a device that the script hands to a function or
a class of its own: the function's moves are moves themselves.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from runtime_guard.mutation.marking import MarkedPlace, parsed
from runtime_guard.mutation.text import LINE_END, ProgramText

Kind: TypeAlias = Literal["to", "device", "map_location", "type", "default", "context"]
KINDS: tuple[str, ...] = get_args(Kind)

METHODS = frozenset({"cuda", "cpu", "xpu"})
"""Methods of tensors and modules that move to the device of their name."""

DTYPES = frozenset(
    "bfloat16 bool cdouble cfloat chalf complex32 complex64 complex128 double float float16 float32"
    " float64 half int int8 int16 int32 int64 long short uint8 uint16 uint32 uint64 dtype".split()
)
"""Names that say a dtype: `torch.float32`, `x.dtype`, `dtype`."""

DEFAULTS = frozenset({"torch.set_default_device", "torch.set_default_tensor_type"})
CONTEXTS = frozenset({"torch.device", "torch.cuda.device", "torch.xpu.device"})
"""What a `with` statement enters to choose a device."""

NO_CONTEXT = '__import__("contextlib").nullcontext()'

LEGACY = re.compile(r"torch\.(cuda|xpu|mps)\.(?=\w*Tensor$)")
"""The beginning of a type that says a device: `torch.cuda.FloatTensor`."""

QUERIES = re.compile(r"torch\.(cuda|xpu|mps|accelerator)\.|.*\bto_empty$")
"""Whose `device=` moves nothing (`torch.cuda.synchronize`) or cannot be left out."""


@dataclass(frozen=True, slots=True)
class Move:
    """One move, where it stands, and what is left when it is taken out.

    Attributes:
        line: the line on which it begins, counted from one.
        column: the character of that line, counted from one.
        text: the move as it is written, without the comma that goes with an argument.
        kind: `to` for a method, `device` and `map_location` for an argument, `type` for
            `torch.cuda.FloatTensor`, `default` for `torch.set_default_device`, `context` for a
            `with` statement.
        start: where what is taken out begins, in characters from the beginning of the source.
        end: where that ends.
        left: what stands in its place afterwards.
        made: the expression whose value is there once the move was made.
    """

    line: int
    column: int
    text: str
    kind: Kind
    start: int
    end: int
    left: str
    made: MarkedPlace

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {' '.join(self.text.split())}"

    def removed(self, source: str) -> str:
        """The source without this move; every other character is as it was.

        A line that ends inside the move is joined to the next one, so that none changes its number.

        Raises:
            ValueError: the source is not the one in which the move was found.
        """
        if self.text not in source[self.start : self.end]:
            raise ValueError(f"there is no {self.text!r} at line {self.line}")
        lines = LINE_END.findall(source, self.start, self.end)
        joined = "".join(f"\\{end}" for end in lines)
        return source[: self.start] + self.left + joined + source[self.end :]


def moves_in(source: str) -> tuple[Move, ...]:
    """The moves of a Python program, in the order of the text.

    Raises:
        SyntaxError: it is no Python program.
    """
    tree = parsed(source)
    own = {node.name for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)}
    text = ProgramText(source)
    found = (move for node in _nodes(tree) for move in _moves_at(node, text, own))
    return tuple(sorted(found, key=lambda move: move.start))


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those inside f-strings, which have no places of their own on every Python."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.JoinedStr):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def _moves_at(node: ast.AST, text: ProgramText, own: set[str]) -> Iterator[Move]:
    match node:
        case ast.Call():
            yield from _moves_of_call(node, text, own)
        case ast.With() | ast.AsyncWith():
            for item in node.items:
                called = item.context_expr
                if isinstance(called, ast.Call) and dotted(called.func) in CONTEXTS:
                    yield _move(text, *text.span(called), "context", NO_CONTEXT)
        case ast.Attribute() if type_ := LEGACY.match(dotted(node)):
            # What is between the words may be anything, even a line end.
            start, end = text.span(node)
            yield _move(text, start, end, "type", "torch." + dotted(node)[type_.end() :])
        case ast.Constant(value=str(value)) if type_ := LEGACY.match(value):
            start, end = text.span(node)
            if "\n" not in text.source[start:end]:
                yield _move(text, start, end, "type", repr("torch." + value[type_.end() :]))


def _moves_of_call(call: ast.Call, text: ProgramText, own: set[str]) -> Iterator[Move]:
    name = dotted(call.func)
    if name in DEFAULTS:
        # A legacy type among the arguments is the same move.
        if not any(LEGACY.match(_word(each)) for each in call.args):
            yield _move(text, *text.span(call), "default", "None")
    elif isinstance(call.func, ast.Attribute) and _is_moving_method(call, call.func):
        if text.is_called_at_once(call):
            yield _method(call, text)
    elif not QUERIES.match(name) and not (isinstance(call.func, ast.Name) and name in own):
        yield from _arguments(call, name, text)


def _is_moving_method(call: ast.Call, function: ast.Attribute) -> bool:
    if isinstance(function.value, ast.Call) and dotted(function.value.func) == "super":
        return False
    if function.attr in METHODS:
        return dotted(function.value) != "torch"
    if function.attr != "to":
        return False
    if call.args:
        return not is_dtype(call.args[0])
    # `**options` may hold a device.
    return any(keyword.arg in ("device", None) for keyword in call.keywords)


def is_dtype(node: ast.expr) -> bool:
    """Whether an expression is known to say a dtype."""
    if isinstance(node, ast.Attribute):
        return node.attr in DTYPES
    return isinstance(node, ast.Name) and node.id in DTYPES


def _method(call: ast.Call, text: ProgramText) -> Move:
    """Take the whole call out, or its device alone where it says a dtype or a layout as well."""
    keeps = {keyword.arg for keyword in call.keywords} & {"dtype", "memory_format", "other"}
    devices = [index for index, each in enumerate(call.keywords) if each.arg == "device"]
    if devices and (keeps or call.args):
        return _argument(call, call.keywords[devices[0]], text, "to")
    if call.args and (keeps or len(call.args) > 1) and not isinstance(call.args[0], ast.Starred):
        return _argument(call, call.args[0], text, "to")
    begin, end = text.span(call)
    start = text.dot_before(call.func)
    line, column = text.place(start)
    made = MarkedPlace(line, begin, end)
    return Move(line, column, text.source[start:end], "to", start, end, "", made)


def _arguments(call: ast.Call, name: str, text: ProgramText) -> Iterator[Move]:
    for keyword in call.keywords:
        said = not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None)
        if keyword.arg == "device" and said:
            yield _argument(call, keyword, text, "device")
        elif keyword.arg == "map_location" and said:
            yield _argument(call, keyword, text, "map_location")
    if name == "torch.load" and len(call.args) > 1:
        # What follows by position would take its place.
        left = "None" if len(call.args) > 2 else ""
        yield _argument(call, call.args[1], text, "map_location", left)


def _argument(
    call: ast.Call, argument: ast.expr | ast.keyword, text: ProgramText, kind: Kind, left: str = ""
) -> Move:
    piece = text.argument(call, argument)
    start, end = (piece.start, piece.end) if left else text.with_comma(piece)
    written = text.source[piece.start : piece.end]
    value = piece.start + (written.index("=") + 1 if isinstance(argument, ast.keyword) else 0)
    line, column = text.place(piece.start)
    return Move(line, column, written, kind, start, end, left, MarkedPlace(line, value, piece.end))


def _move(text: ProgramText, start: int, end: int, kind: Kind, left: str) -> Move:
    line, column = text.place(start)
    made = MarkedPlace(line, start, end)
    return Move(line, column, text.source[start:end], kind, start, end, left, made)


def dotted(node: ast.expr) -> str:
    """`torch.cuda.device` for the expression that says it; empty where it is no such name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := dotted(node.value)):
        return f"{before}.{node.attr}"
    return ""


def _word(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return dotted(node)
