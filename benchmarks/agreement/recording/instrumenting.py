"""Compiles a file such that its expressions are noted, and all else is as it was.

`f(x) + y` becomes `note(4, note(2, note(0, f)(note(1, x))) + note(3, y))`: what is evaluated, how
often and in which order stays the same, and each node keeps its place, so that tracebacks do, too.
"""

from __future__ import annotations

import ast
import builtins
from typing import TypeVar

from benchmarks.agreement.recording.places import Places, Span

NOTE = "__device_note__"
"""Among the builtins: notes the value of an expression, and gives it back."""
ENTER = "__device_enter__"
"""Among the builtins: begins the notes of one call of a function."""
ENTER_FORWARD = "__device_enter_forward__"
"""The same for the `forward` of a module, which is looked at."""
FRAME = "__device_frame__"
"""A local name of each function: the notes of this call."""

NOTED = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.NamedExpr,
    ast.Await,
    ast.Yield,
)
"""The expressions that can give a tensor or a module; a display or a comprehension cannot."""

_READS_NAMES = frozenset({"locals", "vars", "dir", "eval", "exec"})
_READS_FRAMES = frozenset({"_getframe", "currentframe"})
"""Who calls one of these may see a local name more: such a function gets none."""
_LEFT_ALONE = frozenset({"super", "__class__", "__debug__"}) | _READS_NAMES
_COMPILES = frozenset({"njit", "jit", "vectorize", "guvectorize", "stencil"})
"""Decorators that compile the bytecode of a function, and know none of our calls."""
_BUILTIN = frozenset(dir(builtins))

Function = TypeVar("Function", ast.FunctionDef, ast.AsyncFunctionDef)


def instrumented(source: bytes, path: str, places: Places) -> ast.Module:
    """The tree of a file, with calls that note its expressions.

    Raises:
        SyntaxError: it is no Python.
    """
    tree = ast.parse(source, path)
    writer = _Instrumenting(places, places.add_file(path), _Columns(source), _modules_of(tree))
    tree.body = [writer.visit(one) for one in tree.body]  # type: ignore[misc]
    return tree


class _Columns:
    """From the columns of `ast`, which count bytes of UTF-8, to characters."""

    def __init__(self, source: bytes) -> None:
        text = source.decode("utf-8", "replace")
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._wide = {
            number: line.encode() for number, line in enumerate(lines, 1) if not line.isascii()
        }

    def of(self, line: int, column: int) -> int:
        wide = self._wide.get(line)
        return column if wide is None else len(wide[:column].decode("utf-8", "replace"))


class _Instrumenting(ast.NodeTransformer):
    """Wraps what can be noted; annotations, patterns and parts of f-strings stay as they are."""

    def __init__(
        self, places: Places, file: int, columns: _Columns, modules: frozenset[str]
    ) -> None:
        self._places = places
        self._file = file
        self._columns = columns
        self._modules = modules
        self._frame: str | None = None
        """What stands for the notes of the call: a name, "" for none, None in the file itself."""
        self._in_class = False

    def visit(self, node: ast.AST) -> ast.AST:
        """The node as it is compiled."""
        if not isinstance(node, NOTED) or not isinstance(getattr(node, "ctx", _LOAD), ast.Load):
            found: ast.AST = super().visit(node)
            return found
        if isinstance(node, ast.Name) and (node.id in _LEFT_ALONE or node.id in self._modules):
            return node
        kind = type(node).__name__
        if isinstance(node, ast.Call):
            self._visit_call(node)
        elif isinstance(node, ast.BinOp):
            self._visit_operation(node)
        else:
            self.generic_visit(node)
        return self._noted(node, kind)

    def _visit_call(self, node: ast.Call) -> None:
        """A builtin that is called is none of ours, and neither is what it is looked up by."""
        if not (isinstance(node.func, ast.Name) and node.func.id in _BUILTIN):
            node.func = self._visited(node.func)
        node.args = [self._visited(one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = self._visited(keyword.value)

    def _visit_operation(self, node: ast.BinOp) -> None:
        """Of `a + b + c`, `a + b` is not noted: devicelint goes along such a chain."""
        while isinstance(node.left, ast.BinOp):
            node.right = self._visited(node.right)
            node = node.left
        node.left, node.right = self._visited(node.left), self._visited(node.right)

    def _visited(self, node: ast.expr) -> ast.expr:
        found = self.visit(node)
        assert isinstance(found, ast.expr)
        return found

    def _noted(self, node: ast.expr, kind: str) -> ast.Call:
        number = self._places.add(self._file, self._span(node), kind)
        frame: ast.expr = ast.Name(self._frame, _LOAD) if self._frame else _no_frame(self._frame)
        call = ast.Call(ast.Name(NOTE, _LOAD), [ast.Constant(number), node, frame], [])
        for new in (call, call.func, call.args[0], frame):
            ast.copy_location(new, node)
        return call

    def _span(self, node: ast.expr) -> Span:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = self._columns.of(node.lineno, node.col_offset)
        end = self._columns.of(node.end_lineno, node.end_col_offset)
        return Span(node.lineno, begin, node.end_lineno, end)

    # -- scopes ----------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return self._function(node)

    def _function(self, node: Function) -> Function:
        if any(_is_compiler(one) for one in node.decorator_list):
            return node
        node.decorator_list = [self._visited(one) for one in node.decorator_list]
        self._visit_defaults(node.args)
        is_forward = self._in_class and node.name == "forward" and bool(node.args.args)
        outer, self._frame = self._frame, "" if _reads_names(node) else FRAME
        in_class, self._in_class = self._in_class, False
        node.body = [self.visit(one) for one in node.body]  # type: ignore[misc]
        if self._frame:
            own = node.args.args[0].arg if is_forward else None
            node.body.insert(_has_docstring(node), self._entering(node, own))
        self._frame, self._in_class = outer, in_class
        return node

    def _visit_defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self._visited(one) for one in arguments.defaults]
        arguments.kw_defaults = [
            one if one is None else self._visited(one) for one in arguments.kw_defaults
        ]

    def _entering(self, node: ast.FunctionDef | ast.AsyncFunctionDef, own: str | None) -> ast.stmt:
        """The statement that begins the notes of a call; `own` is the module that is called."""
        number = self._places.add_function(self._file, node.lineno, node.name)
        given: list[ast.expr] = [ast.Constant(number)]
        if own is not None:
            given.append(ast.Name(own, _LOAD))
        call = ast.Call(ast.Name(ENTER if own is None else ENTER_FORWARD, _LOAD), given, [])
        statement = ast.Assign([ast.Name(FRAME, ast.Store())], call)
        first = node.body[0]
        for new in ast.walk(statement):
            if isinstance(new, (ast.expr, ast.stmt)):
                ast.copy_location(new, first)
        return statement

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self._visit_defaults(node.args)
        outer, self._frame = self._frame, ""
        node.body = self._visited(node.body)
        self._frame = outer
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.decorator_list = [self._visited(one) for one in node.decorator_list]
        node.bases = [self._visited(one) for one in node.bases]
        for keyword in node.keywords:
            keyword.value = self._visited(keyword.value)
        outer, self._frame = self._frame, ""
        in_class, self._in_class = self._in_class, True
        node.body = [self.visit(one) for one in node.body]  # type: ignore[misc]
        self._frame, self._in_class = outer, in_class
        return node

    # -- what stays as it is ---------------------------------------------------------------

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.target = self.visit(node.target)  # type: ignore[assignment]
        if node.value is not None:
            node.value = self._visited(node.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """Before Python 3.12, the parts of an f-string do not know where they stand."""
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.guard = None if node.guard is None else self._visited(node.guard)
        node.body = [self.visit(one) for one in node.body]  # type: ignore[misc]
        return node


_LOAD = ast.Load()


def _no_frame(frame: str | None) -> ast.Constant:
    """None for the statements of the file itself, 0 for what is not compared in one call."""
    return ast.Constant(None if frame is None else 0)


def _modules_of(tree: ast.Module) -> frozenset[str]:
    """The names that `import` binds and nothing else does: there is nothing to note of these."""
    imported: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update(one.asname or one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            bound.update(one.asname or one.name for one in node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return frozenset(imported - bound)


def _reads_names(function: ast.AST) -> bool:
    """Whether a function asks for its local names, itself or in what it defines."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in _READS_NAMES:
            return True
        if isinstance(node, ast.Attribute) and node.attr in _READS_FRAMES:
            return True
    return False


def _is_compiler(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(called, ast.Attribute):
        return called.attr in _COMPILES
    return isinstance(called, ast.Name) and called.id in _COMPILES


def _has_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    first = node.body[0]
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
