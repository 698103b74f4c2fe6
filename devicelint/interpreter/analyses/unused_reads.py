"""Names that a file reads without bringing anything anywhere: it prints a device, and no more.

Nothing is evaluated here.  Whatever is not understood counts as a use.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devicelint.interpreter.facts.name_uses import Reads, last_name, parameters_for

_FAR = 8
"""How many names a value is followed through."""
Seen = frozenset[str]
_IDLE_KEYWORDS = frozenset(
    "map_location pin_memory num_workers enabled help description file".split()
)
_IDLE_CALLS = frozenset(
    "print pprint info debug warning warn log error write DataLoader autocast GradScaler "
    "manual_seed manual_seed_all device_count get_device_name exit".split()
)
"""Functions and methods that place nothing where their arguments say, by their last name."""
_IDLE_PARTS = ("torch.cuda.", "torch.accelerator.", "torch.xpu.", "torch.mps.", "torch.backends.")
_HAND_ON = frozenset(
    "str repr format torch.device device len int bool isinstance startswith lower split".split()
)
"""Functions and methods whose result stands for what they are given."""
_HANDS_ON = (
    cst.Attribute,
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.ConcatenatedString,
    cst.Dict,
    cst.DictElement,
    cst.Element,
    cst.FormattedString,
    cst.FormattedStringExpression,
    cst.IfExp,
    cst.Index,
    cst.Subscript,
    cst.SubscriptElement,
    cst.Tuple,
    cst.UnaryOperation,
)
"""Expressions that pass on what they are made of."""


def is_idle(reads: Reads, name: str, seen: Seen = frozenset()) -> bool:
    """Whether nothing that the file does with a name brings anything to a device.

    `seen` are the names that are being looked at already.
    """
    return _are_idle(reads, name, reads.names.get(name, ()), seen)


def is_idle_attribute(reads: Reads, name: str, seen: Seen = frozenset()) -> bool:
    """Whether nothing that the file does with an attribute, whosever it is, does that."""
    found = [one for one in reads.attributes.get(name, ()) if not _is_target(reads, one)]
    return _are_idle(reads, f".{name}", found, seen)


def _are_idle(reads: Reads, name: str, nodes: Iterable[cst.CSTNode], seen: Seen) -> bool:
    if name in seen:
        return True
    return len(seen) < _FAR and all(_is_idle(reads, one, seen | {name}) for one in nodes)


def handed_out(reads: Reads, name: str, seen: Seen = frozenset()) -> bool:
    """Whether an object is given away whole, to whoever may read any of its attributes."""
    if name in seen:
        return False
    return any(
        not _reads_one(reads.around[node]) and not _goes_to_own_function(reads, node, seen | {name})
        for node in reads.names.get(name, ())
    )


def _reads_one(around: cst.CSTNode) -> bool:
    """`args.lr`, where `args.__dict__` would give all of them."""
    return isinstance(around, cst.Attribute) and not around.attr.value.startswith("_")


def _goes_to_own_function(reads: Reads, node: cst.Name, seen: Seen) -> bool:
    given = reads.around[node]
    call = reads.around.get(given)
    if not (isinstance(given, cst.Arg) and isinstance(call, cst.Call)):
        return False
    if last_name(call.func) in ("print", "pprint"):
        return True
    names = list(parameters_for(reads, call, given))
    return bool(names) and not any(handed_out(reads, one, seen) for one in names)


def _is_idle(reads: Reads, node: cst.CSTNode, seen: Seen) -> bool:
    """Whether one read comes to nothing."""
    child, parent = node, reads.around.get(node)
    while parent is not None:
        if isinstance(parent, cst.Arg):
            call = reads.around[parent]
            if not isinstance(call, cst.Call):
                return False
            verdict = _is_idle_argument(reads, parent, call, seen)
            if verdict is not None:
                return verdict
            parent = call
        elif isinstance(parent, cst.Call):
            if parent.func is not child or last_name(parent.func) not in _HAND_ON:
                return False
        elif not isinstance(parent, _HANDS_ON):
            return _is_idle_statement(reads, parent, child, seen)
        child, parent = parent, reads.around.get(parent)
    return False


def _is_idle_argument(reads: Reads, given: cst.Arg, call: cst.Call, seen: Seen) -> bool | None:
    """Whether a call does nothing with an argument; None where it hands that on."""
    if given.keyword is not None and given.keyword.value in _IDLE_KEYWORDS:
        return True
    if _is_idle_call(reads, call):
        return True
    if reads.code(call.func) in _HAND_ON or last_name(call.func) in ("format", "join"):
        return None
    names = list(parameters_for(reads, call, given))
    return bool(names) and all(is_idle(reads, one, seen) for one in names)


def _is_idle_call(reads: Reads, call: cst.Call) -> bool:
    called = reads.code(call.func)
    if called.startswith(_IDLE_PARTS):
        return not called.endswith("Tensor")
    return last_name(call.func) in _IDLE_CALLS


def _is_idle_statement(
    reads: Reads, statement: cst.CSTNode, child: cst.CSTNode, seen: Seen
) -> bool:
    match statement:
        case cst.Expr() | cst.Assert() | cst.Raise():
            return True
        case cst.If(test=test) if test is child:
            return _is_idle_choice(reads, statement, seen)
        case cst.Assign(targets=targets):
            return all(_is_idle_target(reads, one.target, seen) for one in targets)
        case _:
            return False


def _is_idle_target(reads: Reads, target: cst.BaseExpression, seen: Seen) -> bool:
    if isinstance(target, cst.Name):
        return is_idle(reads, target.value, seen)
    if isinstance(target, cst.Attribute):
        if reads.code(target).startswith("torch.backends."):
            return True
        owner = target.value
        if not isinstance(owner, cst.Name) or (
            owner.value != "self" and handed_out(reads, owner.value)
        ):
            return False
        return is_idle_attribute(reads, target.attr.value, seen)
    return False


def _is_idle_choice(reads: Reads, choice: cst.If, seen: Seen) -> bool:
    """Whether neither branch does anything with devices."""
    branches: list[cst.BaseSuite] = [choice.body]
    rest = choice.orelse
    if isinstance(rest, cst.If):
        if not _is_idle_choice(reads, rest, seen):
            return False
    elif rest is not None:
        branches.append(rest.body)
    lines = [line for branch in branches for line in branch.body]
    return all(_is_idle_line(reads, line, seen) for line in lines)


def _is_idle_line(reads: Reads, line: cst.CSTNode, seen: Seen) -> bool:
    if isinstance(line, cst.If):
        return _is_idle_choice(reads, line, seen)
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    for small in line.body:
        match small:
            case cst.Pass() | cst.Raise() | cst.Expr(value=cst.BaseString()):
                continue
            case cst.Expr(value=cst.Call() as call) if _is_idle_call(reads, call):
                continue
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=cst.Name() as owner) as func)):
                if func.attr.value != "update" or not is_idle(reads, owner.value, seen):
                    return False
            case cst.Assign(targets=targets):
                if not all(_is_idle_target(reads, one.target, seen) for one in targets):
                    return False
            case _:
                return False
    return True


def _is_target(reads: Reads, node: cst.CSTNode) -> bool:
    return isinstance(reads.around.get(node), cst.AssignTarget)
