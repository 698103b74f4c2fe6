"""Which names the statements of a module bind, and what they import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from devicelint.fixes.suites import suites


def run_at_import(block: Iterable[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """The statements of a module that run when it does, those of suites included."""
    for statement in block:
        yield statement
        if not isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            for suite in suites(statement):
                yield from run_at_import(suite.body)


def small_statements(statement: cst.CSTNode) -> Sequence[cst.BaseSmallStatement]:
    """The statements of a line; none for a compound statement."""
    if isinstance(statement, cst.SimpleStatementLine):
        return statement.body
    return (statement,) if isinstance(statement, cst.BaseSmallStatement) else ()


def bound_names(statement: cst.CSTNode) -> set[str]:
    """The names that a statement itself binds by `=`, `import`, `def` or `class`."""
    if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
        return {statement.name.value}
    names: set[str] = set()
    for small in small_statements(statement):
        if isinstance(small, cst.Assign):
            names.update(_name(target.target) for target in small.targets)
        elif isinstance(small, cst.AnnAssign):
            names.add(_name(small.target))
        else:
            names.update(bound for _, bound in _imported(small))
    return names


def _name(target: cst.CSTNode) -> str:
    return target.value if isinstance(target, cst.Name) else ""


def _imported(statement: cst.CSTNode) -> Iterator[tuple[str, str]]:
    """What a small statement imports, with the name that it binds to it."""
    if isinstance(statement, cst.Import):
        for alias in statement.names:
            module = alias.evaluated_name
            top = module.partition(".")[0]
            yield (module, alias.evaluated_alias) if alias.evaluated_alias else (top, top)
    elif isinstance(statement, cst.ImportFrom) and not isinstance(statement.names, cst.ImportStar):
        for alias in statement.names:
            yield f".{alias.evaluated_name}", alias.evaluated_alias or alias.evaluated_name


def name_of_torch(statement: cst.CSTNode) -> str | None:
    """What the statement calls torch, where it imports torch."""
    for inner in run_at_import([statement]):
        for small in small_statements(inner):
            for module, bound in _imported(small):
                if module == "torch":
                    return bound
    return None


def imports_from_torch(statement: cst.CSTNode) -> bool:
    """Whether it is a line with `from torch… import …`."""
    return any(
        isinstance(small, cst.ImportFrom)
        and not small.relative
        and small.module is not None
        and _root(small.module) == "torch"
        for small in small_statements(statement)
    )


def _root(module: cst.BaseExpression) -> str:
    while isinstance(module, cst.Attribute):
        module = module.value
    return _name(module)


def is_name(node: cst.CSTNode, name: str) -> bool:
    """Whether the node is just this name."""
    return isinstance(node, cst.Name) and node.value == name
