"""The functions of a file by their names: what each calls by name, and whether it needs CUDA."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from devicelint.workspace.folder_use import Find
from devicelint.workspace.machine_use import goes
from devicelint.workspace.syntax import nodes_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_ASKS = frozenset({"is_available", "is_cuda", "device_count", "current_accelerator"})
"""What asks the machine, or a tensor, for an accelerator: what depends on it is guarded."""
_RAISES = frozenset(
    {
        *("current_device", "current_stream", "default_stream", "init", "ipc_collect"),
        *("get_device_capability", "get_device_name", "get_device_properties", "get_rng_state"),
        *("mem_get_info", "memory_summary", "reset_peak_memory_stats", "set_device"),
        *("set_stream", "synchronize", "Event", "Stream", "CUDAGraph"),
    }
)
"""What `torch.cuda` has that raises where there is none."""
_DIVIDES = (ast.Div, ast.FloorDiv, ast.Mod)
_FIRST = ("__new__", "__init__", "__post_init__")
"""What runs when a class is called."""


class NamedFunction(NamedTuple):
    """A function of a file, or a class, by its name there."""

    home: str
    name: str


class Functions:
    """The functions and classes of a file, and what its imports bind."""

    def __init__(self, home: str, tree: ast.Module) -> None:
        """Know them by their names, as `f` or `Class.method`."""
        self.home = home
        self._tree = tree

    def demands(self, name: str) -> bool:
        """Whether a function does without asking what raises where there is no accelerator."""
        return any(_demands(one) for one in self._bodies(name))

    def called_by(self, name: str) -> Iterator[str]:
        """What a function calls, as it names that; `self` is the class it is of."""
        cls = name.rpartition(".")[0]
        if name in self._defined and isinstance(self._defined[name], ast.ClassDef):
            cls = name
        for body in self._bodies(name):
            for node in _reached(body):
                if isinstance(node, ast.Call) and (path := _path(node.func)):
                    first, dot, rest = path.partition(".")
                    yield f"{cls}{dot}{rest}" if first in ("self", "cls") and cls else path

    def leads(self, path: str, find: Find) -> Iterator[NamedFunction]:
        """Which function of the project a name of this file stands for, if it is one."""
        if path in self._defined:
            yield NamedFunction(self.home, path)
            return
        first, _, rest = path.partition(".")
        if first in self._defined:
            yield from self._of_bases(first, rest, find)
        elif first in self._imported:
            yield from self._of_import(first, rest, find)
        else:
            for module, level in self._stars:
                home = find(self.home, module, level)
                if home is not None and home != self.home:
                    yield NamedFunction(home, path)

    def _of_bases(self, cls: str, method: str, find: Find) -> Iterator[NamedFunction]:
        """A method that a class has from those that it extends."""
        node = self._defined[cls]
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            if (path := _path(base)) and path != cls:
                yield from self.leads(f"{path}.{method}", find)

    def _of_import(self, first: str, rest: str, find: Find) -> Iterator[NamedFunction]:
        module, level, name = self._imported[first]
        parts = [*([name] if name else ()), *(rest.split(".") if rest else ())]
        for known in range(len(parts) - 1, -1, -1):
            inner = ".".join([*([module] if module else ()), *parts[:known]])
            home = find(self.home, inner, level) if inner or level else None
            if home is not None and home != self.home:
                yield NamedFunction(home, ".".join(parts[known:]))
                return

    def _bodies(self, name: str) -> Iterator[ast.AST]:
        """What runs when something of this name is called; an imported name is followed by that."""
        node = self._defined.get(name)
        if node is None and "." not in name and name not in self._imported:
            methods = (one for one in self._defined if one.endswith(f".{name}"))
            yield from (self._defined[one] for one in methods)
        elif isinstance(node, ast.ClassDef):
            yield from (one for each in _FIRST if (one := self._defined.get(f"{name}.{each}")))
        elif node is not None:
            yield node

    @cached_property
    def _defined(self) -> Mapping[str, _Function | ast.ClassDef]:
        """Functions, classes and their methods, wherever they stand under conditions."""
        found: dict[str, _Function | ast.ClassDef] = {}
        waiting: list[tuple[str, ast.AST]] = [("", one) for one in self._tree.body]
        for prefix, node in waiting:
            if isinstance(node, (_Function, ast.ClassDef)):
                found.setdefault(f"{prefix}{node.name}", node)
            if isinstance(node, ast.ClassDef):
                waiting += [(f"{prefix}{node.name}.", one) for one in node.body]
            elif isinstance(node, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
                waiting += [(prefix, one) for one in ast.iter_child_nodes(node)]
        return found

    @cached_property
    def _imports(self) -> Sequence[ast.AST]:
        nodes = nodes_of(self._tree)
        return [one for one in nodes if isinstance(one, (ast.Import, ast.ImportFrom))]

    @cached_property
    def _imported(self) -> Mapping[str, tuple[str, int, str]]:
        """What each name is imported from: the module, the dots before it, and the name there."""
        found: dict[str, tuple[str, int, str]] = {}
        for node in self._imports:
            match node:
                case ast.Import(names):
                    for one in names:
                        top = one.name.partition(".")[0]
                        found[one.asname or top] = (one.name if one.asname else top, 0, "")
                case ast.ImportFrom(module, names, level):
                    found |= {
                        one.asname or one.name: (module or "", level, one.name) for one in names
                    }
                case _:
                    pass
        return found

    @cached_property
    def _stars(self) -> tuple[tuple[str, int], ...]:
        imports = (one for one in self._imports if isinstance(one, ast.ImportFrom))
        stars = (one for one in imports if any(name.name == "*" for name in one.names))
        return tuple((one.module or "", one.level) for one in stars)


def _reached(body: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, but for what depends on the machine."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (ast.If, ast.IfExp, ast.While)) and _asks(node.test):
            continue
        waiting += ast.iter_child_nodes(node)


def _demands(body: ast.AST) -> bool:
    return any(map(_is_demand, _reached(body)))


def _is_demand(node: ast.AST) -> bool:
    match node:
        case ast.Assert(test):
            return _asks(test)
        case ast.If(test, [*_, ast.Raise()]) | ast.If(test, _, [*_, ast.Raise()]):
            return _asks(test)
        case ast.If(test, [*_, ast.Expr(ast.Call(func))]):
            return _asks(test) and _path(func) in ("sys.exit", "exit", "quit", "os._exit")
        case ast.BinOp(op=op, right=ast.Call(func)):
            return isinstance(op, _DIVIDES) and _path(func).endswith("cuda.device_count")
        case ast.Call(func) if _path(func).endswith("init_process_group"):
            return any(_is_nccl(one) for one in (*node.args[:1], *(k.value for k in node.keywords)))
        case ast.Call(func) if ".cuda." in f".{_path(func)}":
            return _path(func).rpartition(".")[2] in _RAISES
        case _:
            return goes(node)


def _is_nccl(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "nccl"


def _asks(test: ast.expr) -> bool:
    names = (one.attr for one in ast.walk(test) if isinstance(one, ast.Attribute))
    return not _ASKS.isdisjoint(names)


def _path(node: ast.expr) -> str:
    """`a.b` of a name or an attribute; empty for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    owner = _path(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{owner}.{node.attr}" if owner and isinstance(node, ast.Attribute) else ""
