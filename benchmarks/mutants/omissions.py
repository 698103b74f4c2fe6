"""What somebody may forget of what a program does for its devices: each place is an omission.

Those are the moves of `runtime_guard.mutation.moves`, and what makes a value follow another one or
a module: buffers, parameters, lists of modules, tensors made like others.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.removed_moves import foreign_devices
from runtime_guard.mutation.marking import MarkedPlace, parsed
from runtime_guard.mutation.moves import Move, dotted, moves_in
from runtime_guard.mutation.text import LINE_END, ProgramText

KINDS = {
    "to": "`.to(device)` and `.cuda()` are gone",
    "cpu": "`.cpu()` is gone",
    "device": "`device=` of a function of torch is gone",
    "handed on": "`device=` of another function is gone",
    "map_location": "`map_location` of torch.load is gone",
    "type": "`torch.cuda.FloatTensor` is `torch.FloatTensor`",
    "default": "`torch.set_default_device` is gone",
    "context": "`with torch.device(...)` is gone",
    "buffer": "`self.register_buffer(name, value)` is `self.name = value`",
    "parameter": "`nn.Parameter(value)` is `value`",
    "modules": "`nn.ModuleList(values)` is `list(values)`, `nn.ModuleDict` a dict",
    "like": "`x.new_zeros(n)` is `torch.zeros(n)`, `zeros_like(x)` too, `.type_as(x)` a dtype",
}
"""The kinds of omissions, and what is left."""

PARAMETERS = frozenset({"nn.Parameter", "torch.nn.Parameter", "Parameter"})
CONTAINERS = {
    f"{before}{name}": plain
    for before in ("nn.", "torch.nn.", "")
    for name, plain in (
        ("ModuleList", "list"),
        ("ParameterList", "list"),
        ("ModuleDict", "dict"),
        ("ParameterDict", "dict"),
    )
}
NEW = {"new_zeros": "zeros", "new_ones": "ones", "new_empty": "empty", "new_full": "full"}
LIKE = frozenset({"zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"})


@dataclass(frozen=True, slots=True)
class Omission:
    """A place where something can be forgotten.

    Attributes:
        kind: one of KINDS.
        line: the line on which it begins, counted from one.
        column: the character of that line, counted from one.
        text: what is written there, on one line.
        start: where it begins, in characters from the beginning of the source.
        end: where it ends.
        left: what stands in its place afterwards.
        made: the expression that is evaluated where the program comes to this place.
        is_outside_functions: whether the import of the file executes it.
    """

    kind: str
    line: int
    column: int
    text: str
    start: int
    end: int
    left: str
    made: MarkedPlace
    is_outside_functions: bool = False

    def made_in(self, source: str) -> str:
        """The source with this omission; each line keeps its number."""
        missing = LINE_END.findall(source, self.start, self.end)[len(LINE_END.findall(self.left)) :]
        joined = "".join(f"\\{end}" for end in missing)
        return source[: self.start] + self.left + joined + source[self.end :]

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.text}"


def omissions_in(source: str) -> tuple[Omission, ...]:
    """The omissions of a program, in the order of the text; none where it is no Python."""
    try:
        moves, tree = moves_in(source), parsed(source)
        foreign = set(foreign_devices(tree))
        found = [_of_move(source, move, foreign) for move in moves]
        text = ProgramText(source)
        has_torch = any(
            alias.name == "torch" and alias.asname is None
            for node in tree.body
            if isinstance(node, ast.Import)
            for alias in node.names
        )
        found += [
            _omission(text, node, kind, left)
            for node, kind, left in _replaced(tree, has_torch=has_torch)
        ]
    except (SyntaxError, ValueError, RecursionError):
        return ()
    bodies = [text.span(node) for function in ast.walk(tree) for node in _body(function)]
    placed = [
        replace(each, is_outside_functions=not any(a <= each.start < b for a, b in bodies))
        for each in found
    ]
    return tuple(sorted(placed, key=lambda each: (each.start, each.end)))


def _body(node: ast.AST) -> Sequence[ast.stmt | ast.expr]:
    """What a function executes when it is called."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.body
    return [node.body] if isinstance(node, ast.Lambda) else ()


def _of_move(source: str, move: Move, foreign: set[tuple[int, int]]) -> Omission:
    kind: str = move.kind
    if kind == "to" and re.match(r"\.\s*cpu\b", move.text):
        kind = "cpu"
    elif kind == "device" and (move.line, move.column) in foreign:
        kind = "handed on"
    written = " ".join(source[move.start : move.end].split())
    return Omission(
        kind, move.line, move.column, written, move.start, move.end, move.left, move.made
    )


def _omission(text: ProgramText, node: ast.Call, kind: str, left: str) -> Omission:
    start, end = text.span(node)
    line, column = text.place(start)
    written = " ".join(text.source[start:end].split())
    return Omission(kind, line, column, written, start, end, left, MarkedPlace(line, start, end))


def _replaced(tree: ast.Module, *, has_torch: bool) -> Iterator[tuple[ast.Call, str, str]]:
    """Each call that can be forgotten, its kind, and what is written instead."""
    for node in _outside_strings(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            attribute = _buffer(node.value)
            if attribute:
                yield node.value, "buffer", attribute
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name in PARAMETERS and node.args and not isinstance(node.args[0], ast.Starred):
            yield node, "parameter", f"({ast.unparse(node.args[0])})"
        elif name in CONTAINERS and not node.keywords:
            yield node, "modules", f"{CONTAINERS[name]}({', '.join(map(ast.unparse, node.args))})"
        elif has_torch and (left := _unlike(node, name)):
            yield node, "like", left


def _outside_strings(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes but those inside f-strings, whose places are not told on every Python."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.JoinedStr):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def _buffer(call: ast.Call) -> str:
    """`self.name = value` for what registers it as a buffer."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "register_buffer":
        return ""
    given: dict[str | None, ast.expr] = {word.arg: word.value for word in call.keywords}
    given.update(zip(("name", "tensor"), call.args, strict=False))
    name, value = given.get("name"), given.get("tensor")
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or value is None:
        return ""
    if isinstance(value, (ast.Constant, ast.Starred)) or not name.value.isidentifier():
        return ""
    return f"{ast.unparse(call.func.value)}.{name.value} = {ast.unparse(value)}"


def _unlike(call: ast.Call, name: str) -> str:
    """What makes the same tensor, on the default device."""
    words = {word.arg for word in call.keywords}
    if None in words or "device" in words or any(isinstance(a, ast.Starred) for a in call.args):
        return ""
    if name.startswith("torch.") and name[6:] in LIKE and len(call.args) == 1:
        like = dotted(call.args[0])
        given = [ast.unparse(word) for word in call.keywords if word.arg != "memory_format"]
        given += [] if "dtype" in words else [f"dtype={like}.dtype"]
        made = name[6:].removesuffix("_like")
        return f"torch.{made}({', '.join([f'{like}.shape', *given])})" if like else ""
    if not isinstance(call.func, ast.Attribute):
        return ""
    like = dotted(call.func.value)
    if call.func.attr in NEW and like and like != "torch":
        given = [ast.unparse(each) for each in (*call.args, *call.keywords)]
        given += [] if "dtype" in words else [f"dtype={like}.dtype"]
        return f"torch.{NEW[call.func.attr]}({', '.join(given)})"
    if call.func.attr == "type_as" and len(call.args) == 1 and dotted(call.args[0]):
        return f"{ast.unparse(call.func.value)}.to({dotted(call.args[0])}.dtype)"
    return ""
