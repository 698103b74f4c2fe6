"""Where the names of a file are read, and what stands around them: nothing is evaluated here."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst

from devicelint.interpreter.engine.nodes import children, parameters_of


@dataclass(frozen=True, eq=False)
class Reads:
    """Where each name of a file is read, and what stands around each node."""

    tree: cst.Module
    around: Mapping[cst.CSTNode, cst.CSTNode]
    names: defaultdict[str, list[cst.Name]] = field(default_factory=lambda: defaultdict(list))
    attributes: defaultdict[str, list[cst.Attribute]] = field(
        default_factory=lambda: defaultdict(list)
    )
    functions: defaultdict[str, list[cst.FunctionDef]] = field(
        default_factory=lambda: defaultdict(list)
    )
    classes: defaultdict[str, list[cst.ClassDef]] = field(default_factory=lambda: defaultdict(list))

    def code(self, node: cst.CSTNode) -> str:
        """A node as it is written."""
        return self.tree.code_for_node(node)


@functools.lru_cache(maxsize=1)
def reads_of(tree: cst.Module) -> Reads:
    """All that a file reads."""
    reader = Reads(tree, dict(_around(tree)))
    for node, parent in reader.around.items():
        if type(node) is cst.Name:
            if _is_value(node, parent):
                reader.names[node.value].append(node)
        elif type(node) is cst.Attribute:
            reader.attributes[node.attr.value].append(node)
        elif type(node) is cst.FunctionDef:
            reader.functions[node.name.value].append(node)
        elif type(node) is cst.ClassDef:
            reader.classes[node.name.value].append(node)
    for name, classes in reader.classes.items():
        for one in classes:
            reader.functions[name].extend(_constructors(reader, one))
    return reader


def assigned(reads: Reads) -> Iterator[tuple[str, cst.Assign]]:
    """The assignments of plain names in a file, and of `self.name` in classes of their own."""
    for node in reads.around:
        if isinstance(node, cst.Assign):
            for target in node.targets:
                if isinstance(target.target, cst.Name):
                    yield target.target.value, node
                elif _is_own_attribute(reads, target.target):
                    yield reads.code(target.target), node


def _is_own_attribute(reads: Reads, target: cst.BaseExpression) -> bool:
    """`self.device` in a class whose bases cannot read it."""
    if not isinstance(target, cst.Attribute) or reads.code(target.value) != "self":
        return False
    node: cst.CSTNode | None = target
    while node is not None and not isinstance(node, cst.ClassDef):
        node = reads.around.get(node)
    return node is not None and _stands_alone(reads, node)


def is_mentioned(reads: Reads, function: str) -> bool:
    """Whether a name is read that may be a function's, besides parameters of the same name."""
    if reads.attributes[function]:
        return True
    return any(not _is_parameter(reads, one) for one in reads.names[function])


def _is_parameter(reads: Reads, name: cst.Name) -> bool:
    node = reads.around.get(name)
    while node is not None:
        if isinstance(node, (cst.FunctionDef, cst.Lambda)) and name.value in {
            one.name.value for one in parameters_of(node)
        }:
            return True
        node = reads.around.get(node)
    return False


def is_conditional(reads: Reads, statement: cst.CSTNode) -> bool:
    """Whether a statement stands in a branch."""
    node = reads.around.get(statement)
    while node is not None and not isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        if isinstance(node, (cst.If, cst.Else, cst.Try)):
            return True
        node = reads.around.get(node)
    return False


def parameters_for(reads: Reads, call: cst.Call, given: cst.Arg) -> Iterator[str]:
    """What the function of the file that is called names an argument; nothing if unclear."""
    found = reads.functions.get(last_name(call.func), [])
    if given.star or len(found) != 1 or not isinstance(call.func, cst.Name):
        return
    parameters = found[0].params
    names = [one.name.value for one in (*parameters.posonly_params, *parameters.params)]
    if isinstance(reads.around.get(reads.around[found[0]]), cst.ClassDef):
        names = names[1:]
    if given.keyword is not None:
        every = {*names, *(one.name.value for one in parameters.kwonly_params)}
        if given.keyword.value in every:
            yield given.keyword.value
        return
    position = next(at for at, one in enumerate(call.args) if one is given)
    if position < len(names):
        yield names[position]


def holders_of(reads: Reads, function: str) -> Iterator[str | None]:
    """The names that hold what a function gives; None for what is not understood."""
    for call in reads.around:
        if isinstance(call, cst.Call) and last_name(call.func) == function:
            yield from _holders(reads, call)


def _holders(reads: Reads, call: cst.Call) -> Iterator[str | None]:
    match reads.around[call]:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            yield name
        case cst.Arg() as given if isinstance(outer := reads.around[given], cst.Call):
            names = list(parameters_for(reads, outer, given))
            yield from names or (None,)
        case cst.Return() as back:
            node: cst.CSTNode | None = back
            while node is not None and not isinstance(node, cst.FunctionDef):
                node = reads.around.get(node)
            yield from (None,) if node is None else holders_of(reads, node.name.value)
        case _:
            yield None


def _constructors(reads: Reads, node: cst.ClassDef) -> Iterator[cst.FunctionDef]:
    """The `__init__` of a class whose bases cannot read what it keeps."""
    if _stands_alone(reads, node):
        for one in node.body.body:
            if isinstance(one, cst.FunctionDef) and one.name.value == "__init__":
                yield one


def _stands_alone(reads: Reads, node: cst.ClassDef, seen: tuple[cst.ClassDef, ...] = ()) -> bool:
    """Whether all that its bases do is seen, or is no work with a device."""
    for name in (last_name(base.value) for base in node.bases):
        found = [one for one in reads.classes.get(name, ()) if one is not node]
        if not found and name not in _DEVICELESS:
            return False
        if not all(one in seen or _stands_alone(reads, one, (*seen, node)) for one in found):
            return False
    return True


_DEVICELESS = frozenset("Module object Dataset IterableDataset ABC Protocol".split())
"""Classes of Python and torch that never read a `device` of theirs."""


def _around(tree: cst.Module) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    waiting: list[cst.CSTNode] = [tree]
    while waiting:
        parent = waiting.pop()
        for child in children(parent):
            yield child, parent
            waiting.append(child)


def _is_value(node: cst.Name, parent: cst.CSTNode) -> bool:
    """Whether a name is read: not bound, and no name of an attribute or of an argument."""
    if type(parent) not in _NAMING:
        return True
    match parent:
        case cst.Attribute(value=owner):
            return owner is node
        case cst.Arg(value=value):
            return value is node
        case cst.AssignTarget() | cst.AnnAssign(target=cst.Name()) | cst.NameItem():
            return isinstance(parent, cst.AnnAssign) and parent.target is not node
        case cst.Param(default=default):
            return default is node
        case cst.FunctionDef() | cst.ClassDef():
            return False
        case _:
            return True


_NAMING = frozenset(
    {
        *(cst.Attribute, cst.Arg, cst.AssignTarget, cst.AnnAssign, cst.NameItem, cst.Param),
        *(cst.FunctionDef, cst.ClassDef),
    }
)
"""What gives a name to something, or is named by one."""


def last_name(func: cst.BaseExpression) -> str:
    """The name of a function or method, without what it is looked up on."""
    named = func.attr if isinstance(func, cst.Attribute) else func
    return named.value if isinstance(named, cst.Name) else ""
