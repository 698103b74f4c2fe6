"""What a walk keeps in mind: what surrounds its place, who hears it, and what it has met so far."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import dataclass, field, fields
from typing import TypeVar, cast

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import Class, Function, Module, Value
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.steps import Hearer, Notes, Steps


@dataclass(eq=False, kw_only=True)
class Surroundings:
    """What holds around the point where the walk is; whoever enters something leaves it again."""

    assumptions: int = 0
    """How many conditions that the code cannot tell."""
    unrelated: int = 0
    """How many of these say nothing of devices: what they guard needs what it names."""
    of_machine: int = 0
    """How many of these ask for an accelerator, and for nothing else."""
    idle: int = 0
    """How many of these choose nothing: they ask where a tensor lies, or else the code raises."""
    settings: list[str] = field(default_factory=list)
    """The settings that lead to this point, with what they have to be."""
    device_choices: int = 0
    """How many conditions that ask for a device."""
    switches: int = 0
    """How many of these are settled by what is written at the top of the file."""
    no_grad: int = 0
    """How many contexts and decorators that disable gradients."""
    muted_parts: int = 0
    """How many parts of the walk of which nothing is reported."""
    meant_to_fail: int = 0
    """How many blocks of which a test says that they raise."""
    expected: list[str] = field(default_factory=list)
    """The exceptions that `try` statements are prepared for."""
    together: int = 1
    """How many iterations there are, all told, of the surrounding loops walked one by one."""
    cases: int = 1
    """How many combinations of the values of places the statements around are walked for."""
    sequentials: list[tuple[Module, Site]] = field(default_factory=list)
    """The Sequentials whose layers are being called, outermost first, with their calls."""


class Muted(AbstractContextManager[None]):
    """A part of a walk that reports nothing; entered again within itself, it counts."""

    __slots__ = ("_surroundings",)

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def __enter__(self) -> None:
        self._surroundings.muted_parts += 1

    def __exit__(self, *_: object) -> None:
        self._surroundings.muted_parts -= 1


Noted = TypeVar("Noted", bound=Notes)
Hears = TypeVar("Hears", bound=Hearer)


class Attention:
    """Who hears the steps of a walk, and what else the parts of the interpreter note of it."""

    def __init__(self) -> None:
        self.steps = Steps()
        """What to call at each step."""
        self.tells_of_names = True
        """Whether anybody hears what names are bound to."""
        self._notes: dict[type[Notes], Notes] = {}

    def attend(self, hearers: Iterable[Hearer]) -> None:
        """Let some hear the walk from here on."""
        self._notes |= {type(one): one for one in hearers}
        self.steps = Steps(self.hearers)

    @property
    def hearers(self) -> tuple[Hearer, ...]:
        """Those who hear the walk."""
        return tuple(one for one in self._notes.values() if isinstance(one, Hearer))

    @property
    def all_notes(self) -> tuple[Notes, ...]:
        """All that is noted of the walk, by whom."""
        return tuple(self._notes.values())

    def keep_notes(self, kept: Iterable[Notes]) -> None:
        """Throw away what others than these have noted."""
        self._notes = {type(one): one for one in kept}

    def hearer(self, kind: type[Hears]) -> Hears:
        """The one of a kind that hears every walk."""
        return cast("Hears", self._notes[kind])

    def find_hearer(self, kind: type[Hears]) -> Hears | None:
        """The one of a kind that hears this walk, where it is needed."""
        return cast("Hears | None", self._notes.get(kind))

    def notes(self, kind: type[Noted]) -> Noted:
        """The notes of a kind, begun where there are none yet."""
        held = self._notes.get(kind)
        if held is None:
            held = self._notes[kind] = kind()
        return cast("Noted", held)

    @contextmanager
    def leaving_no_notes(self) -> Iterator[None]:
        """Walk with notes that are thrown away afterwards."""
        notes, steps = self._notes, self.steps
        self._notes = {kind: one.fork() for kind, one in notes.items()}
        self.steps = Steps(self.hearers)
        try:
            yield
        finally:
            self._notes, self.steps = notes, steps


@dataclass(eq=False, kw_only=True)
class Memory(Attention):
    """What the walk needs to know of what it has walked."""

    moment: int = 0
    """How many statements were walked."""
    steps_elsewhere: int = 0
    """How many of these were in files that the checked one imports."""
    entered: set[Site] = field(default_factory=set)
    """The functions that were interpreted with the arguments of a call."""
    instantiated: set[Site] = field(default_factory=set)
    """The classes of which there was an object."""
    tests: dict[Hashable, cst.BaseExpression] = field(default_factory=dict)
    """The conditions that two paths were walked for, by what they ask."""
    interpretations: dict[Site, int] = field(default_factory=dict)
    """How often each function was walked."""
    remembered: dict[object, Value] = field(default_factory=dict)
    """What calls gave, by the function and what it was called with."""
    come_late: int = 0
    """How often something came to be where a walk had looked for it in vain."""
    classes: dict[Site, Class] = field(default_factory=dict)
    """The classes that the file defines."""
    pending: list[tuple[Function, Frame]] = field(default_factory=list)
    """The functions that were defined, with the frame that did."""
    stored: dict[str, int] = field(default_factory=dict)
    """When an attribute of each name was last set, of whatever object."""
    demands_accelerator: bool = False
    """Whether the code goes to an accelerator that it writes out, unguarded."""
    depends_on_machine: bool = False
    """Whether a machine without an accelerator goes another way, or loads where this one does."""
    counts_accelerators: bool = False
    """Whether the code asks how many accelerators there are."""
    undecided: set[str] = field(default_factory=set)
    """The keys of the flags that were asked for and that the world leaves open."""
    made_in: dict[Site, tuple[Frame, int]] = field(default_factory=dict)
    """The frame in which each tensor or module was created, and the moment."""

    def __post_init__(self) -> None:
        super().__init__()

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """Walk without keeping in mind what is noted: only which functions were walked."""
        before = {
            one.name: copy(getattr(self, one.name))
            for one in fields(Memory)
            if one.name not in _KEPT and isinstance(getattr(self, one.name), (dict, set, list))
        }
        try:
            with self.leaving_no_notes():
                yield
        finally:
            for name, held in before.items():
                setattr(self, name, held)


_KEPT = frozenset({"entered", "interpretations"})
