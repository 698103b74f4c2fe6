"""Which words speak of devices, and which expressions are nothing but a device."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.histories.nodes import Group, Nodes, flat, is_name

_PARTS = ("cuda", "gpu", "cpu", "device")
_PLACES = ("cuda", "cpu", "gpu", "mps", "--cuda", "--gpu", "--device", "--cpu")
FACTORIES = frozenset({"zeros", "ones", "empty", "full", "tensor", "rand", "randn", "randint"})
NEW = frozenset(f"new_{factory}" for factory in FACTORIES)
LIKE = frozenset(f"{factory}_like" for factory in FACTORIES)
_TYPES = frozenset(
    "bool int long short half float double float16 float32 float64 bfloat16 dtype".split()
)
_MARKS = frozenset({"map_location", "type_as", "register_buffer", "is_mps"})
_MOVES = frozenset({"new", "to"})
_BESIDE = frozenset(
    "torch is_available self args opt opts options config cfg params hparams type index str int"
    " format next parameters model module backends utils local_rank rank mps th net"
    " is_initialized get_rank FLAGS flags".split()
)


def speaks_of_devices(token: str) -> bool:
    """Whether a token cannot be read without thinking of a device."""
    if is_string(token):
        return is_place(token)
    if not token.isidentifier():
        return False
    word = token.lower()
    return any(part in word for part in _PARTS) or token in _MARKS or _follows(token)


def _follows(token: str) -> bool:
    """Whether it is the name of a factory that follows another tensor."""
    return token in NEW or token in LIKE


def move(tokens: Iterable[str]) -> bool:
    """Whether tokens, in which two versions differ, concern a device, and not a type alone."""
    words = set(tokens)
    if any(map(speaks_of_devices, words)):
        return True
    return bool(words & _MOVES) and not words & _TYPES


def is_string(token: str) -> bool:
    """Whether a token is a string, of whatever kind."""
    return token[-1:] in {"'", '"'}


def is_place(token: str) -> bool:
    """Whether a string names a device: `"cuda:0"`, `f"cuda:{rank}"`."""
    inner = token[len(token) - len(token.lstrip("rbfuRBFU")) :].strip("'\"")
    return inner.startswith(_PLACES) and " " not in inner


def is_device(nodes: Nodes) -> bool:
    """Whether an expression gives a device, or says whether there is one, and does nothing else."""
    if _ends_in_device(nodes):
        return True
    if len(nodes) == 4 and nodes[:3] == ("torch", ".", "device"):
        return True
    tokens = flat(nodes)
    return any(map(speaks_of_devices, tokens)) and all(map(_goes_with_devices, tokens))


def _ends_in_device(nodes: Nodes) -> bool:
    """`x.device`, `next(model.parameters()).device`, `x.get_device()`."""
    names = all(isinstance(node, Group) or is_name(node) or node == "." for node in nodes)
    if not names or len(nodes) < 3:
        return False
    return nodes[-2:] == (".", "device") or nodes[-3:-1] == (".", "get_device")


def _goes_with_devices(token: str) -> bool:
    if is_name(token):
        return token in _BESIDE or speaks_of_devices(token)
    if is_string(token):
        return is_place(token)
    return True
