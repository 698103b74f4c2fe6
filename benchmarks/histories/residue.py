"""What is left of a program once all that concerns devices is taken out of it.

Two versions of a file that leave the same differ in device tokens alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from benchmarks.histories.nodes import Group, Node, Nodes, Statement, flat, is_name, nested
from benchmarks.histories.words import LIKE, NEW, is_device, is_string, speaks_of_devices

Residue: TypeAlias = "tuple[str | Residue, ...]"

_MOVING_METHODS = frozenset({"to", "cuda", "cpu", "detach", "contiguous", "type_as", "get_device"})
_SETTING = (("torch", ".", "cuda", ".", "set_device"), ("torch", ".", "set_default_device"))
_DEVICE_BLOCK = ("torch", ".", "cuda", ".", "device")
_DEFAULT_TYPE = ("torch", ".", "set_default_tensor_type")
_OWN_MOVES = frozenset({"to", "cuda", "cpu", "device", "get_device", "_apply"})
_BEFORE_A_CALL = frozenset({")", "]"})


def residue_of(statements: Sequence[Statement]) -> Residue:
    """What the statements of a block leave."""
    left: list[Residue] = []
    opened = False
    for number, statement in enumerate(statements):
        if statement.tokens[:1] == ("@",) and _is_own_move(statements, number):
            continue
        head = nested(statement.tokens)
        guard = _is_guard(head) or (opened and head[:1] == ("else",))
        opened = guard and head[:1] != ("else",)
        if guard and statement.body:
            inner = [each for each in residue_of(statement.body) if isinstance(each, tuple)]
            if left[-len(inner) :] != inner:
                left.extend(inner)
            continue
        kept = _left_of(statement, head)
        if kept:
            left.append(kept)
    return tuple(left)


def _is_own_move(statements: Sequence[Statement], number: int) -> bool:
    """Whether a decorator stands above a method that is dropped."""
    for statement in statements[number:]:
        if statement.tokens[:1] != ("@",):
            return _defines_move(statement)
    return False


def _defines_move(statement: Statement) -> bool:
    return statement.tokens[:1] == ("def",) and statement.tokens[1] in _OWN_MOVES


def _is_guard(head: Nodes) -> bool:
    """`if torch.cuda.is_available():`, `elif use_gpu:`, `with torch.cuda.device(x):`."""
    if head[:1] == ("with",):
        call = head[4:5] if head[3:4] == ("device",) else head[6:7]
        return head[1:-1] in (("torch", ".", "device", *call), (*_DEVICE_BLOCK, *call))
    return head[:1] in (("if",), ("elif",)) and is_device(head[1:-1])


def _left_of(statement: Statement, head: Nodes) -> Residue:
    if _defines_move(statement):
        return ()
    kept = simplified(_buffer_as_attribute(head))
    if statement.body:
        inner = residue_of(statement.body)
        is_definition = head[:1] in (("def",), ("class",), ("async",))
        return () if not inner and not is_definition else (*flat(kept), inner)
    return () if _says_nothing(head, kept) else flat(kept)


def _buffer_as_attribute(nodes: Nodes) -> Nodes:
    """`self.register_buffer("x", value)` as `self.x = value`."""
    if nodes[:3] != ("self", ".", "register_buffer") or len(nodes) != 4:
        return nodes
    call = nodes[3]
    if not isinstance(call, Group) or len(call.parts) < 2 or len(call.parts[0]) != 1:
        return nodes
    return ("self", ".", str(call.parts[0][0]).strip("'\""), "=", *call.parts[1])


def _says_nothing(before: Nodes, after: Nodes) -> bool:
    """Whether a simple statement is a move, a choice of a device, an import, or a docstring."""
    if before[:1] in (("import",), ("from",)):
        return True
    if len(before) == 1 and isinstance(before[0], str) and is_string(before[0]):
        return True
    if before[:5] in _SETTING or before[:3] in (*_SETTING, _DEFAULT_TYPE):
        return True
    if "=" not in before:
        changed = before != after
        return changed and all(is_name(each) or each == "." or _is_index(each) for each in after)
    equals = before.index("=")
    if is_device(before[equals + 1 :]):
        return True
    if before == after or "=" not in after:
        return False
    target, value = after[: after.index("=")], after[after.index("=") + 1 :]
    return target == value or _moves_each(target, value)


def _is_index(node: Node) -> bool:
    return isinstance(node, Group) and node.opening == "["


def _moves_each(target: Nodes, value: Nodes) -> bool:
    """`x = [each for each in x]`, once the move of each is taken out."""
    if len(value) != 1 or not isinstance(value[0], Group):
        return False
    tokens, name = flat(value), flat(target)
    places = range(len(tokens) - len(name) + 1)
    return "for" in tokens and any(tokens[at : at + len(name)] == name for at in places)


def simplified(nodes: Nodes) -> Nodes:
    """An expression without its moves and its device arguments."""
    left: list[Node] = []
    place = 0
    while place < len(nodes):
        place += _one(nodes, place, left)
    return tuple(left)


def _one(nodes: Nodes, place: int, left: list[Node]) -> int:
    """Put what the next nodes leave after what is left; how many they were."""
    node = nodes[place]
    following = nodes[place + 1 : place + 3]
    if node == "." and len(following) == 2 and isinstance(following[1], Group):
        name, call = str(following[0]), following[1]
        if name in _MOVING_METHODS or (
            name == "type" and any(map(speaks_of_devices, flat((call,))))
        ):
            return 3
        if name in NEW:
            _drop_receiver(left)
            left.extend(("torch", ".", name.removeprefix("new_"), _arguments(call)))
            return 3
        if name in LIKE and call.parts:
            shape = (*simplified(call.parts[0]), ".", "shape")
            rest = _arguments(Group(call.opening, call.parts[1:])).parts
            left.extend((".", name.removesuffix("_like"), Group("(", (shape, *filter(None, rest)))))
            return 3
        if name == "size":
            left.extend((".", "shape"))
            left.extend([Group("[", call.parts)] if any(call.parts) else [])
            return 3
    if node == "cuda" and left[-2:] == ["torch", "."] and str(following[1:2]).find("Tensor") > 0:
        return 2
    if isinstance(node, Group):
        left.extend(_of_group(node, left))
    else:
        left.append(node)
    return 1


def _drop_receiver(left: list[Node]) -> None:
    """Take away the value of which a method is called."""
    while left and (isinstance(left[-1], Group) or is_name(left[-1]) or left[-1] == "."):
        last = left.pop()
        if is_name(last) and (not left or left[-1] != "."):
            return


def _of_group(group: Group, left: Sequence[Node]) -> Iterator[Node]:
    follows = bool(left) and (isinstance(left[-1], Group) or is_name(left[-1]))
    if group.opening == "[" and follows:
        yield Group("[", tuple(map(simplified, group.parts)))
    elif group.opening == "(" and not follows and len(group.parts) == 1:
        yield from simplified(group.parts[0])
    else:
        yield _arguments(group)


def _arguments(group: Group) -> Group:
    """A call, or a display, without what only says where its tensors are."""
    parts = tuple(simplified(part) for part in group.parts if part and not _places(part))
    return Group(group.opening, parts)


def _places(part: Nodes) -> bool:
    """`device=x`, `map_location="cpu"`, `use_cuda: bool`, `x.device`, `dtype=x.dtype`."""
    named = len(part) > 1 and part[1] in ("=", ":") and isinstance(part[0], str)
    if not named:
        return is_device(part)
    word = str(part[0])
    if word in ("non_blocking", "async", "loc") or speaks_of_devices(word):
        return True
    return is_device(part[2:]) or (word == "dtype" and part[-1] == "dtype")
