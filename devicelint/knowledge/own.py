"""Signatures that a project states itself, for functions and modules that no source shows.

The file is a stub in the notation of README.md; nested classes without a base stand for modules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from devicelint.knowledge import grammar
from devicelint.knowledge.modules import ModuleKind, ModuleKnowledge
from devicelint.knowledge.signature import Signature

_BASES = {kind.value: kind for kind in (ModuleKind.LEAF, ModuleKind.LOSS)}
_METHODS = ("__init__", "forward")


@dataclass(frozen=True)
class OwnStubs:
    """What stub files of a project state, by qualified name."""

    functions: Mapping[str, Signature] = field(default_factory=dict)
    modules: Mapping[str, ModuleKnowledge] = field(default_factory=dict)

    def __or__(self, other: OwnStubs) -> OwnStubs:
        """Both; what the other one states wins."""
        functions = {**self.functions, **other.functions}
        return OwnStubs(functions, {**self.modules, **other.modules})


def read(text: str) -> OwnStubs:
    """What the text of a stub file states; raises `grammar.GrammarError`."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise grammar.GrammarError(error.lineno or 1, f"is no Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise grammar.GrammarError(1, f"is no Python: {error}") from None
    functions: dict[str, Signature] = {}
    modules: dict[str, ModuleKnowledge] = {}
    for name, node in _definitions(tree.body, ""):
        if "." not in name:
            message = f"{name} is in no module: put it into `class mypkg:`, say"
            raise grammar.GrammarError(node.lineno, message)
        if name in functions or name in modules:
            raise grammar.GrammarError(node.lineno, f"{name} is stated twice")
        if isinstance(node, ast.FunctionDef):
            functions[name] = grammar.signature(node)
        else:
            modules[name] = _module(name, node)
    return OwnStubs(functions, modules)


def _definitions(
    body: list[ast.stmt], module: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    for node in body:
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.ClassDef) and node.bases):
            yield f"{module}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{module}{node.name}.")
        elif not _is_of_no_account(node):
            message = "expected a def, a class, or a docstring"
            raise grammar.GrammarError(node.lineno, message)


def _is_of_no_account(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True  # Whoever opens the file in an editor may want its names to be found.
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _module(name: str, node: ast.ClassDef) -> ModuleKnowledge:
    base = ast.unparse(node.bases[0])
    if base not in _BASES:
        known = " or ".join(_BASES)
        raise grammar.GrammarError(node.lineno, f"{node.name} extends {base}: expected {known}")
    methods: dict[str, Signature] = {}
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name in _METHODS:
            if not member.args.args:
                raise grammar.GrammarError(member.lineno, f"{member.name} has no self")
            methods[member.name] = grammar.signature(member, drop_self=True)
        elif not _is_of_no_account(member):
            raise grammar.GrammarError(member.lineno, "expected __init__ or forward")
    if "forward" not in methods:
        raise grammar.GrammarError(node.lineno, f"{node.name} states no forward")
    return ModuleKnowledge(name, _BASES[base], methods["forward"], methods.get("__init__"))
