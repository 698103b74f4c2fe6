"""What holds at one point of a program: places and their values.

A place is an object's `ref` and the name of one of its fields: the local variables of a frame, the
attributes of an instance, the items of a list.  Forking is cheap: fields are copied when one of
the two states writes to them.  What other files hold is shared by all states of a walk, and copied
where one of them writes to it, so that forks and merges do not see it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from devicelint.domain.alternatives import EVERYWHERE, are_several, either
from devicelint.domain.conflicts import loses_device
from devicelint.domain.devices import Device, DeviceOf
from devicelint.domain.history import Step
from devicelint.domain.join import join
from devicelint.domain.mappings import beyond, common
from devicelint.domain.nesting import holds
from devicelint.domain.values import (
    DictOf,
    Fact,
    ListOf,
    OneOf,
    Path,
    Ref,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

Fields = dict[str, Value]
Place = tuple[Ref, str]
Pair = tuple[Step, Device]
"""What put a value where it is, and the device of what it meets there."""
Conflict = tuple[Value, Value]
"""Two values of one place, on two paths, that lie on two devices."""

DEVICE_FIELD = "@device"
"""The field of a module that holds its device, as a `Placed`."""


class State:
    """Places and their values; `dead` once the path has returned, raised, or left a loop."""

    __slots__ = (
        *("_heap", "_owned", "_shared", "_shared_written", "dead", "failed"),
        *("clashed", "doubted", "facts", "met", "taken", "told_apart"),
    )

    def __init__(self) -> None:
        self._heap: dict[Ref, Fields] = {}
        self._owned: set[Ref] = set()
        self._shared: dict[Ref, Fields] = {}
        self._shared_written: frozenset[Ref] = frozenset()
        self.dead = False
        self.failed = False
        """Whether a line of this path raises on this machine; what follows is walked all alike."""
        self.doubted = False
        """Whether something on this path that nobody has followed may have raised there."""
        self.facts: Mapping[Hashable, Hashable] = _NO_FACTS
        """The questions that were asked on this path, and the answers."""
        self.taken: Path = EVERYWHERE
        """What is taken for true while a statement is walked for one of several values."""
        self.met: Mapping[DeviceOf, Step] = _NONE_MET
        """The devices of what is not seen that have turned out, and what showed each."""
        self.clashed: frozenset[Pair] = frozenset()
        """What was found to clash on this path: the same two are one mistake."""
        self.told_apart: frozenset[str] = frozenset()
        """The names of the places that hold, or held, one of several values."""

    def __repr__(self) -> str:
        inside = ", ".join(f"{ref}: {fields}" for ref, fields in self._heap.items())
        return f"State({'dead, ' if self.dead else ''}{inside})"

    def read(self, ref: Ref, name: str) -> Value | None:
        """The value at a place, or None where nothing was written."""
        fields = self._heap.get(ref) or self._shared.get(ref)
        return None if fields is None else fields.get(name)

    def find(self, refs: Iterable[Ref], name: str) -> tuple[Ref, Value] | None:
        """The first of some objects that has something under a name, and what that is."""
        heap, shared = self._heap, self._shared
        for ref in refs:
            fields = heap.get(ref) or shared.get(ref)
            if fields is not None and (value := fields.get(name)) is not None:
                return ref, value
        return None

    def fields(self, ref: Ref) -> Mapping[str, Value]:
        """All that an object holds."""
        return self._fields(ref) or _NO_FIELDS

    def _fields(self, ref: Ref) -> Fields | None:
        fields = self._heap.get(ref)
        return self._shared.get(ref) if fields is None else fields

    def write(self, ref: Ref, name: str, value: Value) -> None:
        """Put a value at a place, whatever was there.

        What follows values into the containers that they hold has an end: a container in itself,
        as `tree = tree[key] = {}` in a loop makes one, is unknown there.
        """
        if type(value) in _HOLDERS:
            if name[:1] in ITEM_PREFIXES and holds(value, ref, self.fields):
                value = Unknown("a container that holds itself")
            elif type(value) in _SEVERAL and name not in self.told_apart and are_several(value):
                self.told_apart |= {name}
        self._writable(ref)[name] = value

    def suppose(self, facts: Iterable[Fact]) -> None:
        """Go on where some questions have these answers."""
        self.facts = {**self.facts, **dict(facts)}

    def take(self, path: Path) -> None:
        """Go on with one of several values: what holds on its path may be true or not here."""
        self.taken |= path - self.facts.items()
        self.suppose(path)

    def meets(self, device: DeviceOf, step: Step) -> None:
        """Go on where something that is not seen lies with what it was combined with."""
        if device not in self.met:
            self.met = {**self.met, device: step}

    def as_met(self, value: Value) -> Value:
        """A tensor that is not seen, where it has turned out to be."""
        if type(value) is not Tensor or not isinstance(value.device, DeviceOf):
            return value
        met = self.met.get(value.device)
        return value if met is None else replace(value, device=met.device, since=met)

    def parted_from(self, other: State) -> tuple[Path, Path]:
        """What holds on this path and not on another, and the other way round."""
        if self.facts is other.facts:
            return EVERYWHERE, EVERYWHERE
        return beyond(self.facts, other.facts), beyond(other.facts, self.facts)

    def delete(self, ref: Ref, name: str) -> None:
        """Forget a place."""
        self._writable(ref).pop(name, None)

    def reset(self, ref: Ref) -> None:
        """Make the object anew, with nothing in it."""
        self._heap[ref] = {}
        self._owned.add(ref)

    def drop(self, ref: Ref) -> None:
        """Forget an object."""
        self._heap.pop(ref, None)
        self._owned.discard(ref)

    def adopt(self, objects: Mapping[Ref, Fields]) -> None:
        """Take over objects of another state that are not here yet, and the keys of its dicts."""
        for ref, fields in objects.items():
            held = self._shared.setdefault(ref, fields)
            if held is not fields:
                new = {name: one for name, one in fields.items() if name.startswith(_KEYS)}
                if not new.keys() <= held.keys():
                    self._shared[ref] = {**new, **held}

    def is_as_adopted(self, ref: Ref) -> bool:
        """Whether an object of another state is as it was taken over."""
        return ref in self._shared and ref not in self._heap

    def objects(self) -> Mapping[Ref, Fields]:
        """Everything that is held here, for other states to adopt."""
        self._owned = set()
        return {**self._shared, **self._heap}

    def fork(self) -> State:
        """A second state that goes its own way from here."""
        other = State.__new__(State)
        other._heap, other._owned = self._heap.copy(), set()
        other._shared, other._shared_written = self._shared, self._shared_written
        other.dead, other.failed, other.doubted = self.dead, self.failed, self.doubted
        other.facts, other.met, other.told_apart = self.facts, self.met, self.told_apart
        other.taken, other.clashed = self.taken, self.clashed
        self._owned = set()
        return other

    def merge(self, other: State, *, apart: bool = False) -> list[Conflict]:
        """Let this state hold on both paths; the values whose devices differed between them.

        `apart` keeps alternatives; without it, a place has one value that says what holds of both.
        """
        if not self._is_reached_with(other):
            return []
        if self.dead or self.failed is not other.failed:
            self._become(other)
            return []
        conflicts: list[Conflict] = []
        paths = self._meet(other, apart=apart)
        for ref in self._shared_written - other._shared_written:
            self._merge_fields(ref, self._shared[ref], conflicts, paths)
        heap, shared = self._heap, self._shared
        for ref, fields in other._heap.items():
            mine = heap.get(ref)
            if mine is fields:
                continue
            if mine is None and ref not in shared:
                heap[ref] = fields
                other._owned.discard(ref)
            else:
                self._merge_fields(ref, fields, conflicts, paths)
        return conflicts

    def _is_reached_with(self, other: State) -> bool:
        """Whether another path leads here; one that fails does not, beside one that does not."""
        if other.dead:
            self.failed = self.failed and (other.failed or not self.dead)
            return False
        return self.dead or self.failed or not other.failed

    def _become(self, other: State) -> None:
        """Go on with what holds on another path alone."""
        self._heap, self._owned, other._owned = other._heap, set(), set()
        self.dead, self.failed, self.doubted = False, other.failed, other.doubted
        self.facts, self.met, self.told_apart = other.facts, other.met, other.told_apart
        self.taken, self.clashed = other.taken, other.clashed
        self._shared_written = other._shared_written

    def _meet(self, other: State, *, apart: bool) -> tuple[Path, Path] | None:
        """Keep what holds on both paths; what told them apart, where that is asked for."""
        paths = self.parted_from(other) if apart else None
        self.told_apart |= other.told_apart
        self.clashed &= other.clashed
        self.doubted = self.doubted and other.doubted
        if self.facts is not other.facts:
            self.facts = common(self.facts, other.facts)
        if self.met is not other.met:
            self.met = common(self.met, other.met)
        return paths

    def _merge_fields(
        self,
        ref: Ref,
        fields: Fields,
        conflicts: list[Conflict],
        paths: tuple[Path, Path] | None,
    ) -> None:
        mine = self._writable(ref)
        for name, value in fields.items():
            before = mine.get(name)
            if before is value:
                continue
            joined = join(before, value) if paths is None else either(before, value, *paths)
            assert joined is not None
            self.write(ref, name, joined)
            if before is not None and loses_device(before, value, joined):
                conflicts.append((before, value))

    def changes_since(self, earlier: State) -> Iterator[Place]:
        """Places that both states know and whose values differ."""
        for ref, fields in self._heap.items():
            before = earlier._fields(ref)
            if before is None or before is fields:
                continue
            for name, value in fields.items():
                old = before.get(name)
                if old is not None and old is not value and old != value:
                    yield ref, name

    def _writable(self, ref: Ref) -> Fields:
        fields = self._heap.get(ref)
        if ref in self._owned and fields is not None:
            return fields
        if fields is None and ref in self._shared:
            fields = self._shared[ref]
            self._shared_written |= {ref}
        fields = {} if fields is None else fields.copy()
        self._heap[ref] = fields
        self._owned.add(ref)
        return fields


FILES: Ref = "@files"
"""Where the state keeps what lies in files, by their names."""
_NO_FIELDS: Mapping[str, Value] = {}
_NO_FACTS: Mapping[Hashable, Hashable] = {}
_NONE_MET: Mapping[DeviceOf, Step] = {}
_KEYS = ("['", '["', "[(")
"""How the fields of a dict begin that hold what lies under keys that are strings, or tuples."""
ITEM_PREFIXES = ("[", "@")
"""How the names of the fields begin in which lists and dicts keep what they hold."""
_SEVERAL = frozenset({OneOf, Stream, Tuple})
_HOLDERS = frozenset({ListOf, DictOf, Tuple, OneOf, Stream})
