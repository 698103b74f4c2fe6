"""All the calls of a function, in all the files that are checked together.

They are found by names: those by which each file knows the function, through its imports.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devicelint.domain.values import Ref
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.nodes import cached_of_nodes
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.name_uses import Reads, reads_of

_LONGEST_CHAIN = 5
"""How many files may pass a name on, each importing it from the next."""
_TELLS_TYPES = frozenset({"isinstance", "issubclass"})


@dataclass(frozen=True, eq=False)
class CallSite:
    """One call, and the file in which it stands."""

    call: cst.Call
    program: Program


@cached_of_nodes(64)
def reads(tree: cst.Module) -> Reads:
    """All that a file reads; kept for as many files as a program may have."""
    return reads_of.__wrapped__(tree)


def program_at(run: Run, home: Ref) -> Program | None:
    """One of the files that are checked together."""
    return run.program if home == GLOBALS else run.program.also_reported.get(home)


def calls_of(run: Run, name: str, home: Ref) -> list[CallSite] | None:
    """The calls of what a file binds at its top, by keyword or position, however it is imported.

    None where it is used in another way, so that a call may not be seen.
    """
    origin = _place(run, home)
    found: list[CallSite] = []
    for program in (run.program, *run.program.also_reported.values()):
        if name not in program.text:
            continue
        names, owners = _known_as(run, program, origin, name)
        if any(_is_bound_otherwise(program, alias, origin, run) for alias in names):
            return None
        for node in _uses(reads(program.tree), names, owners, name):
            parent = reads(program.tree).around[node]
            if _is_for_types(reads(program.tree), node):
                continue
            if not isinstance(parent, cst.Call) or parent.func is not node:
                return None
            if any(one.star for one in parent.args):
                return None
            found.append(CallSite(parent, program))
    return found


def _is_for_types(read: Reads, node: cst.CSTNode) -> bool:
    """Whether something is named as a type: `trainer: Trainer`, `isinstance(one, Trainer)`."""
    around = read.around.get(node)
    while isinstance(around, (cst.BaseExpression, cst.Arg, cst.SubscriptElement, cst.Index)):
        if isinstance(around, cst.Call):
            return isinstance(around.func, cst.Name) and around.func.value in _TELLS_TYPES
        around = read.around.get(around)
    return isinstance(around, cst.Annotation)


def _place(run: Run, home: Ref) -> str:
    return os.path.abspath(run.program.path) if home == GLOBALS else str(home)


def _uses(read: Reads, names: set[str], owners: set[str], name: str) -> Iterator[cst.CSTNode]:
    for alias in names:
        for node in read.names[alias]:
            if not isinstance(read.around[node], (cst.ImportAlias, cst.AsName)):
                yield node
    for attribute in read.attributes[name]:
        if read.code(attribute.value).strip() in owners:
            yield attribute


def _known_as(run: Run, program: Program, origin: str, name: str) -> tuple[set[str], set[str]]:
    """The names that a file has for something of another, and for that other file."""
    here = _place(run, program.home)
    names = {name} if here == origin else set()
    owners: set[str] = set()
    for node in reads(program.tree).around:
        if isinstance(node, cst.ImportFrom):
            more, modules = _from(run, here, node, origin, name)
            names |= more
            owners |= modules
        elif isinstance(node, cst.Import):
            for alias in node.names:
                if _find(run, here, alias.evaluated_name, 0) == origin:
                    owners.add(alias.evaluated_alias or alias.evaluated_name)
    return names, owners


def _from(
    run: Run, here: str, node: cst.ImportFrom, origin: str, name: str
) -> tuple[set[str], set[str]]:
    level = len(node.relative)
    module = "" if node.module is None else cst.Module([]).code_for_node(node.module)
    home = _find(run, here, module, level)
    if home is None:
        return set(), set()
    if isinstance(node.names, cst.ImportStar):
        return ({name} if _passes_on(run, home, origin, name) else set()), set()
    names: set[str] = set()
    owners: set[str] = set()
    library = run.program.library
    for alias in node.names:
        bound = alias.evaluated_alias or alias.evaluated_name
        if alias.evaluated_name == name and _passes_on(run, home, origin, name):
            names.add(bound)
        elif library is not None and library.inside(home, alias.evaluated_name) == origin:
            owners.add(bound)
    return names, owners


def _passes_on(run: Run, home: str, origin: str, name: str, depth: int = 0) -> bool:
    """Whether a name of one file is that of another, which it may import itself."""
    if home == origin:
        return True
    program = run.program.also_reported.get(home)
    if program is None or depth > _LONGEST_CHAIN:
        return False
    for node in reads(program.tree).around:
        if not isinstance(node, cst.ImportFrom):
            continue
        is_named = isinstance(node.names, cst.ImportStar) or any(
            (one.evaluated_alias or one.evaluated_name) == one.evaluated_name == name
            for one in node.names
        )
        module = "" if node.module is None else cst.Module([]).code_for_node(node.module)
        next_home = _find(run, home, module, len(node.relative)) if is_named else None
        if next_home is not None and _passes_on(run, next_home, origin, name, depth + 1):
            return True
    return False


def _find(run: Run, importer: str, module: str, level: int) -> str | None:
    library = run.program.library
    if library is None or not (module or level):
        return None
    return library.find(importer, module, level)


def _is_bound_otherwise(program: Program, alias: str, origin: str, run: Run) -> bool:
    """Whether a name stands for something else in parts of a file."""
    is_origin = _place(run, program.home) == origin
    defined = 0
    for node, parent in reads(program.tree).around.items():
        if not isinstance(node, cst.Name) or node.value != alias:
            continue
        if isinstance(parent, (cst.FunctionDef, cst.ClassDef)) and parent.name is node:
            defined += not _is_method(program, parent)
        elif isinstance(parent, (cst.AssignTarget, cst.Param)) and not _is_default(parent, node):
            return True
    return defined > is_origin


def _is_default(parent: cst.CSTNode, node: cst.Name) -> bool:
    return isinstance(parent, cst.Param) and parent.default is node


def _is_method(program: Program, node: cst.CSTNode) -> bool:
    around = reads(program.tree).around
    return isinstance(around.get(around.get(node, node)), cst.ClassDef)
