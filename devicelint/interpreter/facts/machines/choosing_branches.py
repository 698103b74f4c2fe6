"""Branches that choose a device: they bring something there, and do nothing else.

`if args.gpu: model = model.cuda()` is a choice; what is missing without the branch is none.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import DEVICE_TYPES
from devicelint.interpreter.engine.nodes import children, descendants

BRINGS = frozenset({"cuda", "xpu", "npu", "hpu", "ipu", "set_device"})
"""Methods that bring something to a device, or all that follows."""


def only_choose(*branches: cst.CSTNode) -> bool:
    """Whether one of the branches of a test only brings to a device what is there anyway."""
    return any(map(_only_chooses, branches)) and not any(
        _bound_anew(one).difference(*(_bound(other) for other in branches if other is not one))
        for one in branches
    )


def _only_chooses(branch: cst.CSTNode) -> bool:
    """Whether a branch brings things to devices, and does nothing else that would be missed."""
    if not isinstance(branch, cst.IndentedBlock):
        return _is_choosing(branch)
    lines = [one for one in branch.body if isinstance(one, cst.SimpleStatementLine)]
    statements = [one for line in lines for one in line.body]
    chosen = [one for one in statements if _is_choosing(getattr(one, "value", None))]
    others = (one for one in statements if one not in chosen)
    return bool(chosen) and all(isinstance(one, (cst.Expr, cst.Pass, cst.Return)) for one in others)


def _bound(branch: cst.CSTNode) -> frozenset[str]:
    """The names that the statements of a branch bind."""
    targets = (target for one in _assigned_in(branch) for target in one.targets)
    return frozenset(name_of(one.target) for one in targets)


def _bound_anew(branch: cst.CSTNode) -> frozenset[str]:
    """The names that a branch binds to what it makes: `loss = nn.NLLLoss().cuda()`."""
    made = (one for one in _assigned_in(branch) if _is_made(one.value))
    bound = ((name_of(target.target), one.value) for one in made for target in one.targets)
    return frozenset(name for name, value in bound if name and not _reads(value, name))


def _is_made(value: cst.BaseExpression) -> bool:
    """Whether what is brought to a device is what a call gives, or is made there."""
    match value:
        case cst.Call(func=cst.Attribute(value=cst.Call())) if is_choice(value):
            return True
        case _:
            return is_made_there(value)


def is_made_there(value: cst.CSTNode) -> bool:
    """`torch.zeros(3, device="cuda").requires_grad_()`: a call that is told a device."""
    match value:
        case cst.Call(func=cst.Attribute(value=cst.Call() as inner)):
            return is_made_there(inner)
        case cst.Call(func=cst.Attribute(attr=cst.Name("to"))):
            return False
        case cst.Call(args=given):
            keywords = (one.keyword for one in given if one.keyword is not None)
            return any(one.value == "device" for one in keywords)
        case _:
            return False


def is_nothing(value: cst.CSTNode) -> bool:
    """`None`, and what holds nothing."""
    match value:
        case cst.Name(value="None") | cst.Tuple(elements=[]) | cst.List(elements=[]):
            return True
        case _:
            return False


def _reads(value: cst.CSTNode, name: str) -> bool:
    return any(name_of(one) == name for one in descendants(value))


def _assigned_in(branch: cst.CSTNode) -> Iterator[cst.Assign]:
    body = branch.body if isinstance(branch, cst.IndentedBlock) else ()
    lines = (one for one in body if isinstance(one, cst.SimpleStatementLine))
    yield from (one for line in lines for one in line.body if isinstance(one, cst.Assign))


def _is_choosing(value: cst.CSTNode | None) -> bool:
    """Whether an expression as a whole is a device, or something that is brought to one."""
    match value:
        case cst.Tuple(elements=elements):
            return all(_is_choosing(one.value) for one in elements)
        case cst.Call(args=given):
            return is_choice(value) or any(is_named(one.value) for one in given)
        case None:
            return False
        case _:
            return is_named(value)


def is_choice(node: cst.CSTNode) -> bool:
    """`"cuda:0"`, `x.cuda()`, `torch.cuda.set_device(0)`."""
    if type(node) is cst.Call and type(node.func) is cst.Attribute:
        return node.func.attr.value in BRINGS
    return is_named(node)


def is_named(node: cst.CSTNode) -> bool:
    """Whether a string names a device."""
    return type(node) is cst.SimpleString and (
        node.raw_value.partition(":")[0] in DEVICE_TYPES and " " not in node.raw_value
    )


def names_read(node: cst.CSTNode) -> frozenset[str]:
    """The names, attributes and keys that an expression reads, of each path the last.

    A function that is given nothing, as `self.on_gpu()`, is read like an attribute.
    """
    found: set[str] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if type(one) is cst.Call:
            waiting += [arg.value for arg in one.args] or [one.func]
        elif name := name_of(one):
            found.add(name)
        else:
            waiting += children(one)
    return frozenset(found)


def name_of(node: cst.CSTNode) -> str:
    """The last part of what is read: `gpu` of `gpu`, `args.gpu` and `args["gpu"]`."""
    name = ""
    if type(node) is cst.Name:
        name = node.value
    elif type(node) is cst.Attribute:
        name = node.attr.value
    elif type(node) is cst.Subscript:
        return _key_of(node)
    return "" if name in _CONSTANTS else name


def _key_of(node: cst.Subscript) -> str:
    match node:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return str(key.raw_value) if isinstance(key, cst.SimpleString) else ""
        case _:
            return ""


_CONSTANTS = frozenset({"None", "True", "False", "self", "cls", "__name__"})
