"""Values that two paths leave, both of them kept: four at most, each with what holds on its path.

A `Fact` is a question that the code asked and the answer on a path: the condition of an `if`, and
whether it holds.  Two alternatives whose paths answer one question differently never meet.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace

from devicelint.domain.devices import DeviceOf, Known, Unsure, join_devices
from devicelint.domain.history import Verb
from devicelint.domain.join import (
    MOST_OPTIONS,
    OBJECTS,
    is_number,
    join,
    join_known,
    join_with_unknown,
    order_of,
)
from devicelint.domain.values import (
    FALSE,
    NONE,
    TRUE,
    Array,
    Batch,
    Const,
    DictOf,
    Instance,
    ListOf,
    OneOf,
    Path,
    Placed,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

EVERYWHERE: Path = frozenset()
_OWNED = ("parameter", "buffer")
_FLAGS = ((TRUE, FALSE), (FALSE, TRUE))
"""What the code notes of the path it has taken: `moved = True`."""
_HOLDERS = (Tensor, Batch, Array, ListOf, DictOf, Tuple, Stream, Placed)
"""What tells a value from None, and from one another."""

Case = tuple[Value, Path]


def either(
    one: Value | None, other: Value | None, this: Path = EVERYWHERE, that: Path = EVERYWHERE
) -> Value | None:
    """The value of two paths, of which `this` and `that` hold: one of several, where they differ.

    A missing value is None where a name is bound on one path only.
    """
    if one is other or other is None:
        return one
    if one is None:
        return other
    if _are_alike(one, other):
        return _either_tuple(one, other, this, that)
    if one == other and not isinstance(one, OneOf):
        return one
    if _is_lost(one, other) or _is_lost(other, one):
        return join_with_unknown(one, other)
    if isinstance(one, Symbolic) or isinstance(other, Symbolic):
        for thing, found in ((one, other), (other, one)):
            if _is_found_to_be(thing, found):
                return thing
    return one_of((*_on(one, this), *_on(other, that)))


def _is_lost(value: Value, other: Value) -> bool:
    """Whether what one path leaves says nothing, as nobody knows what the other one does."""
    return isinstance(other, Unknown) and not _is_kept_beside_unknown(value)


def _is_kept_beside_unknown(value: Value) -> bool:
    """Whether it is known of one path where its tensor lies, whatever the other one leaves."""
    return any(
        isinstance(one, Tensor) and _is_made(one) and isinstance(one.device, Known)
        for one, _ in cases_of(value)
    )


def _is_found_to_be(thing: Value, found: Value) -> bool:
    """Whether one path has found out that a thing from outside is a tensor, and no more."""
    if not (isinstance(thing, Symbolic) and isinstance(found, Tensor)):
        return False
    return found.since.verb is Verb.RECEIVED and found.device == DeviceOf(thing.origin)


def either_known(
    one: Value, other: Value, this: Path = EVERYWHERE, that: Path = EVERYWHERE
) -> Value:
    """`either` of two values that both are there."""
    joined = either(one, other, this, that)
    assert joined is not None
    return joined


def one_object_of(one: Value, other: Value) -> Value:
    """What one of several classes makes is one of their objects; other values come to one."""
    options = dict.fromkeys(option for option, _ in (*cases_of(one), *cases_of(other)))
    if len(options) > MOST_OPTIONS or not all(isinstance(each, Instance) for each in options):
        return join_known(one, other)
    return one if len(options) == 1 else OneOf(tuple(sorted(options, key=order_of)))


def _are_alike(one: Value, other: Value) -> bool:
    return (
        isinstance(one, Tuple) and isinstance(other, Tuple) and len(one.items) == len(other.items)
    )


def _either_tuple(one: Value, other: Value, this: Path, that: Path) -> Value:
    assert isinstance(one, Tuple)
    assert isinstance(other, Tuple)
    if one == other and not any(isinstance(item, OneOf) for item in one.items):
        return one
    pairs = zip(one.items, other.items, strict=True)
    names = one.names if one.names == other.names else ()
    return Tuple(tuple(either_known(left, right, this, that) for left, right in pairs), names)


def cases_of(value: Value) -> tuple[Case, ...]:
    """The alternatives that a value is one of, each with what holds on its path."""
    if not isinstance(value, OneOf):
        return ((value, EVERYWHERE),)
    paths = value.paths or (EVERYWHERE,) * len(value.options)
    return tuple(zip(value.options, paths, strict=True))


def _on(value: Value, path: Path) -> tuple[Case, ...]:
    return tuple((option, held | path) for option, held in cases_of(value))


def one_of(cases: Iterable[Case]) -> Value:
    """One of several: what need not be told apart is one, and too many are not told."""
    kept: list[Case] = []
    for value, path in cases:
        kept = _with(kept, value, path)
    unknown = next((value for value, _ in kept if isinstance(value, Unknown)), None)
    if unknown is not None and not any(_is_kept_beside_unknown(value) for value, _ in kept):
        return Unknown(unknown.reason)
    if len(kept) > MOST_OPTIONS:
        return Unknown("one of too many values")
    if len(kept) == 1:
        return kept[0][0]
    kept.sort(key=lambda case: order_of(case[0]))
    return OneOf(tuple(value for value, _ in kept), tuple(path for _, path in kept))


def _with(kept: list[Case], value: Value, path: Path) -> list[Case]:
    for position, (other, held) in enumerate(kept):
        if _are_alike(other, value):
            rest = [*kept[:position], *kept[position + 1 :]]
            return _with(rest, _either_tuple(other, value, held, path), held & path)
        if other == value or not _is_apart(other, value):
            rest = [*kept[:position], *kept[position + 1 :]]
            joined = other if other == value else join_known(other, value)
            return _with(rest, joined, held & path)
    return [*kept, (value, path)]


def _is_apart(one: Value, other: Value) -> bool:
    """Whether two values are kept apart; others have one value that says what holds of both."""
    if NONE in (one, other):
        held = other if one == NONE else one
        return isinstance(held, _HOLDERS) and not _is_owned(held)
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return not (_is_lost(one, other) or _is_lost(other, one))
    if type(one) is not type(other):
        kinds = (*_HOLDERS, *OBJECTS)
        are_kinds = isinstance(one, kinds) and isinstance(other, kinds)
        are_kinds |= _is_number_beside(one, other) or _is_number_beside(other, one)
        return are_kinds or _is_given_or_made(one, other) or _is_given_or_made(other, one)
    if isinstance(one, (Tensor, Batch)) and isinstance(other, (Tensor, Batch)):
        return _are_on_two_devices(one, other)
    if isinstance(one, Const):
        return (one, other) in _FLAGS
    return isinstance(one, (ListOf, DictOf, Tuple, *OBJECTS))


def _is_number_beside(number: Value, tensor: Value) -> bool:
    """Whether one is a number, which meets any tensor, and the other a tensor that does not."""
    if not isinstance(tensor, Tensor) or tensor.scalar is not False or _is_owned(tensor):
        return False
    return is_number(number)


def _is_given_or_made(one: Value, other: Value) -> bool:
    """Whether a path leaves what the caller gave, and the other tensors that were made."""
    given = isinstance(one, Symbolic) and one.since is not None
    return given and _is_made(other)


def _is_made(value: Value) -> bool:
    """Whether a value is a tensor that no Module owns, or a tuple of some."""
    if isinstance(value, Tuple):
        return any(map(_is_made, value.items))
    return isinstance(value, (Tensor, Batch, Array)) and not _is_owned(value)


def _are_on_two_devices(one: Tensor | Batch, other: Tensor | Batch) -> bool:
    if _is_owned(one) or _is_owned(other):
        return False
    sure = not isinstance(one.device, Unsure) and not isinstance(other.device, Unsure)
    return sure and isinstance(join_devices(one.device, other.device), Unsure)


def _is_owned(value: Value) -> bool:
    """Whether a tensor is what a Module has registered: that moves with the Module."""
    return isinstance(value, Tensor) and value.role in _OWNED


def is_mixed(value: Value) -> bool:
    """Whether the alternatives are more than objects, which are asked one by one in any case."""
    return isinstance(value, OneOf) and not all(isinstance(o, OBJECTS) for o in value.options)


def spread(value: Value) -> Value:
    """A tuple with a part that is one of several: one of several tuples; so of what yields."""
    if type(value) is Stream and is_mixed(value.element):
        options, paths = zip(*cases_of(value.element), strict=True)
        return OneOf(tuple(replace(value, element=o, parts=()) for o in options), paths)
    if type(value) is not Tuple:
        return value
    at = next((at for at, one in enumerate(value.items) if is_mixed(one)), None)
    if at is None:
        return value
    before, after = value.items[:at], value.items[at + 1 :]
    options, paths = zip(*cases_of(value.items[at]), strict=True)
    return OneOf(tuple(Tuple((*before, option, *after)) for option in options), paths)


def are_several(value: Value) -> bool:
    """Whether a place holds one of several values, or a tuple of which a part is that."""
    if isinstance(value, Tuple):
        return any(map(is_mixed, value.items))
    return is_mixed(value.element if isinstance(value, Stream) else value)


def on_path(value: OneOf, facts: Mapping[Hashable, Hashable]) -> Value:
    """What a value is where some facts hold: the alternatives of other paths are left out."""
    cases = cases_of(value)
    kept = [case for case in cases if not contradicts(case[1], facts)]
    return value if len(kept) == len(cases) or not kept else one_of(kept)


def contradicts(path: Path, facts: Mapping[Hashable, Hashable]) -> bool:
    """Whether a path answers a question otherwise than the facts do."""
    return any(question in facts and facts[question] != answer for question, answer in path)


def are_exclusive(value: OneOf) -> bool:
    """Whether the paths of all alternatives contradict each other."""
    paths = [dict(path) for _, path in cases_of(value)]
    return all(
        contradicts(frozenset(path.items()), other)
        for position, path in enumerate(paths)
        for other in paths[position + 1 :]
    )


def settled(value: Value) -> Value:
    """One value for all alternatives: what holds of each of them."""
    if not isinstance(value, OneOf) or not is_mixed(value):
        return value
    joined: Value | None = None
    for option in value.options:
        joined = join(joined, option)
    assert joined is not None
    return joined
