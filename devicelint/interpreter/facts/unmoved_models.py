"""Models that a file takes from a package of models, trains, and never moves.

What they are made of is not seen, so that all that can be said is how the file treats them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

import libcst as cst

from devicelint.interpreter.engine.nodes import descendants, names_bound_by
from devicelint.interpreter.facts.device_words import asks_for_device

_OF_MODELS = re.compile(r"(^|[._])(models?|nets?|networks?|backbones?|architectures?)([._]|$)")
_SETTINGS = re.compile(r"\b(args|opts?|options?|config|cfg|conf|hparams|params|settings|flags)\b")


def built_unmoved(tree: cst.Module, func: cst.BaseExpression) -> cst.Call | None:
    """The call that builds what `func` names, where the file never brings it anywhere."""
    if not isinstance(func, cst.Name):
        return None
    return _unmoved(tree).get(func.value)


@functools.lru_cache(maxsize=1)
def _unmoved(tree: cst.Module) -> Mapping[str, cst.Call]:
    nodes = tuple(descendants(tree))
    factories = set(_factories(tree, nodes))
    if not factories:
        return {}
    found: dict[str, cst.Call] = {}
    others = {name for node in nodes for name in _given_away(node)}
    for name, value in _assignments(nodes):
        if isinstance(value, cst.Call) and _builds(tree, value, factories):
            found.setdefault(name, value)
        else:
            others.add(name)
    trained = {name for node in nodes for name in _called_on(node, {"parameters"})}
    return {name: call for name, call in found.items() if name in trained - others}


_HARMLESS = frozenset(
    "add_graph summary watch print len save type repr str id count_params".split()
)
_KEEPS = frozenset({cst.Assign, cst.Return, cst.Element, cst.DictElement, cst.For})
_MOVES = frozenset({"to", "cuda", "xpu", "to_empty", "_apply", "share_memory"})


def _given_away(node: cst.CSTNode) -> Iterator[str]:
    """The names that are moved here, or given to whoever might do so."""
    yield from _called_on(node, _MOVES)
    kept: tuple[cst.CSTNode | None, ...] = ()
    if isinstance(node, cst.Call):
        func = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        if not (isinstance(func, cst.Name) and func.value in _HARMLESS):
            kept = tuple(argument.value for argument in node.args)
    elif type(node) in _KEEPS:
        kept = (node.iter if isinstance(node, cst.For) else getattr(node, "value", None),)
    for one in kept:
        if isinstance(one, cst.Name):
            yield one.value


def _called_on(node: cst.CSTNode, methods: Collection[str]) -> Iterator[str]:
    """The name on which, or on a part of which, one of some methods is called."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        receiver: cst.BaseExpression = node.func
        while isinstance(receiver, (cst.Attribute, cst.Subscript)):
            receiver = receiver.value
        if node.func.attr.value in methods and isinstance(receiver, cst.Name):
            yield receiver.value


def _factories(tree: cst.Module, nodes: Iterable[cst.CSTNode]) -> Iterator[str]:
    """The names that are imported from a package of models."""
    for node in nodes:
        if type(node) is cst.ImportFrom and not isinstance(node.names, cst.ImportStar):
            module = "" if node.module is None else tree.code_for_node(node.module)
            if _OF_MODELS.search(module) and not module.startswith("torch"):
                for alias in node.names:
                    bound = alias.name if alias.asname is None else alias.asname.name
                    if isinstance(bound, cst.Name):
                        yield bound.value


def _assignments(
    nodes: Iterable[cst.CSTNode],
) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    """Everything that is given a name anywhere in the file."""
    for node in nodes:
        if isinstance(node, cst.Assign):
            for target in node.targets:
                alone = isinstance(target.target, cst.Name)
                for name in names_bound_by(target.target):
                    yield name, node.value if alone else None
        elif isinstance(node, cst.Param):
            yield node.name.value, None
        elif isinstance(node, (cst.For, cst.CompFor)):
            yield from ((name, None) for name in names_bound_by(node.target))


def _builds(tree: cst.Module, call: cst.Call, factories: set[str]) -> bool:
    """`vgg16()`, `Net(3, width=64)`: nothing that could say where to build it is given."""
    if not (isinstance(call.func, cst.Name) and call.func.value in factories):
        return False
    given = [argument.value for argument in call.args]
    spelled = [tree.code_for_node(one) for one in given]
    keywords = [argument.keyword for argument in call.args if argument.keyword is not None]
    if any(map(asks_for_device, (*given, *keywords))) or any(a.star for a in call.args):
        return False
    return not any(_SETTINGS.fullmatch(one) for one in spelled)
