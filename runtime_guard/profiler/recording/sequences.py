"""Keeps a class from counting as a sequence where `__getitem__` is exchanged on it.

A tensor is a mapping to CPython and no sequence: that is why `torch.tensor([a, b])` takes `a` and
`b` for numbers, where it would ask sequences for their length. Setting `__getitem__` on a class
makes it, and what derives from it, a sequence for good. Nothing in Python takes that back, so the
entry of the class that says it is emptied where CPython keeps it.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

GET, INIT = "__getitem__", "__init_subclass__"
_watching: dict[type, object] = {}
_WORD = ctypes.sizeof(ctypes.c_void_p)
_BASIC_SIZE, _ITEM_SIZE, _SEQUENCE, _FLAGS = 1, 2, 10, 18
"""Which words of a class these are, from its `tp_name` on; `tp_as_sequence` leads to a table."""
_ITEM = 3
"""Which word of that table is `sq_item`, which Python fills when it sees a `__getitem__`."""


@contextmanager
def none_added(owner: type) -> Iterator[None]:
    """Let `__getitem__` of a class be set or deleted, and nothing become a sequence by it."""
    plain = [each for each in _heirs(owner) if not _entry(each).value] if can_be_told(owner) else []
    yield
    for each in plain:
        _entry(each).value = None


def watch_classes(owner: Any) -> None:
    """Let no class become one that is made while `owner` has a `__getitem__` of ours."""

    def __init_subclass__(cls: type, /, **kwargs: Any) -> None:  # noqa: N807
        super(owner, cls).__init_subclass__(**kwargs)
        if not any(GET in vars(each) for each in cls.__mro__[: cls.__mro__.index(owner)]):
            _entry(cls).value = None

    if can_be_told(owner) and INIT not in vars(owner):
        _watching[owner] = owner.__init_subclass__ = classmethod(__init_subclass__)


def leave_classes(owner: Any) -> None:
    """Let classes be made as they were, unless somebody has put a watch of theirs in our place."""
    if vars(owner).get(INIT) is _watching.pop(owner, ()):
        del owner.__init_subclass__


@functools.cache
def can_be_told(owner: type) -> bool:
    """Whether entries of classes lie where they should, as one shows that nobody has."""
    tried: Any = type(owner.__name__, (owner,), {})
    words = _words(tried)
    said = (tried.__basicsize__, tried.__itemsize__, tried.__flags__)
    if said != (words[_BASIC_SIZE], words[_ITEM_SIZE], words[_FLAGS]) or _entry(tried).value:
        return False
    setattr(tried, GET, len)
    return bool(_entry(tried).value)


def _heirs(owner: type) -> Iterator[type]:
    """The class, and those that have its `__getitem__`."""
    yield owner
    subclasses: list[type] = type.__subclasses__(owner)
    for each in subclasses:
        if GET not in vars(each):
            yield from _heirs(each)


def _words(owner: type) -> Any:
    """A class from its `tp_name` on, which follows what all objects begin with, and a size."""
    return (ctypes.c_ssize_t * (_FLAGS + 1)).from_address(id(owner) + object.__basicsize__ + _WORD)


def _entry(owner: type) -> ctypes.c_void_p:
    """What the class does as a sequence when it is asked for an item, if anything."""
    table: int = _words(owner)[_SEQUENCE]
    return ctypes.c_void_p.from_address(table + _ITEM * _WORD)
