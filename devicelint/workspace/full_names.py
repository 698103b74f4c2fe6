"""What the names of a file mean that its imports bind, without evaluating anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping


def bound_by(imports: Iterable[ast.AST]) -> Mapping[str, str]:
    """What imports bind, by its full name; what is imported from a package around is left out."""
    meant: dict[str, str] = {}
    for node in imports:
        match node:
            case ast.Import(names):
                for one in names:
                    first = one.name.partition(".")[0]
                    meant[one.asname or first] = one.name if one.asname else first
            case ast.ImportFrom(module=str(module), names=names, level=0):
                meant |= {one.asname or one.name: f"{module}.{one.name}" for one in names}
            case _:
                pass
    return meant


def full_name(node: ast.expr, meant: Mapping[str, str]) -> str:
    """The full name of what an expression means, where an import says so."""
    match node:
        case ast.Name(name):
            return meant.get(name, "")
        case ast.Attribute(owner, name):
            outer = full_name(owner, meant)
            return f"{outer}.{name}" if outer else ""
        case _:
            return ""
