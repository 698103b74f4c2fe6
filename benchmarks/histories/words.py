"""Which words speak of devices, and which expressions are nothing but a device."""

from __future__ import annotations

from benchmarks.histories.nodes import Group, Nodes, flat, is_name

_PARTS = ("cuda", "gpu", "cpu", "device")
_PLACES = ("cuda", "cpu", "gpu", "mps", "--cuda", "--gpu", "--device", "--cpu")
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
    return (
        any(part in word for part in _PARTS)
        or token in _MARKS
        or word.startswith("new_")
        or word.endswith("_like")
    )


def moves(token: str) -> bool:
    """Whether a token is the name of a method that follows or changes a device."""
    return token in _MOVES or speaks_of_devices(token)


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
