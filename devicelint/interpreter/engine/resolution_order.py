"""In which order a class and its bases are asked for a member."""

from __future__ import annotations

from collections.abc import Iterator

from devicelint.domain.values import Class


def resolution_order(cls: Class) -> Iterator[Class]:
    """A class and its bases in the files, in the order in which Python asks them.

    A base comes after all that derive from it, and the bases of a class as they are written.
    """
    while len(bases := _bases(cls)) == 1:
        yield cls
        cls = bases[0]
    yield cls
    if bases:
        yield from _merged([*(list(resolution_order(base)) for base in bases), bases])


def _bases(cls: Class) -> list[Class]:
    return [base for base in cls.bases if isinstance(base, Class)]


def _merged(orders: list[list[Class]]) -> Iterator[Class]:
    """The next is the first of an order that comes later in none; Python refuses other bases."""
    while orders := [order for order in orders if order]:
        heads = [order[0] for order in orders]
        later = {one.ref for order in orders for one in order[1:]}
        chosen = next((one for one in heads if one.ref not in later), heads[0])
        yield chosen
        orders = [[one for one in order if one.ref != chosen.ref] for order in orders]
