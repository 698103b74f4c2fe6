"""What a walk keeps in mind: what surrounds the point where it is, and what it has noted so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields
from typing import NamedTuple, TypeVar, cast

import libcst as cst

from devicelint.domain.devices import CPU, Device
from devicelint.domain.events import Event, Load, Transfer
from devicelint.domain.history import Site, Step
from devicelint.domain.values import Class, Function, Imported, Loaded, Module, Ref, Tensor, Value
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.steps import Hearer, Notes, Steps


@dataclass(eq=False, kw_only=True)
class Surroundings:
    """What holds around the point where the walk is; whoever enters something leaves it again."""

    assumptions: int = 0
    """How many conditions that the code cannot tell."""
    unrelated: int = 0
    """How many of these say nothing of devices: what they guard needs what it names."""
    settings: list[str] = field(default_factory=list)
    """The settings that lead to this point, with what they have to be."""
    device_choices: int = 0
    """How many conditions that ask for a device."""
    no_grad: int = 0
    """How many contexts and decorators that disable gradients."""
    silences: int = 0
    """How many parts of the walk that nobody is to hear of."""
    expected: list[str] = field(default_factory=list)
    """The exceptions that `try` statements are prepared for."""
    default_device: Device = CPU
    """Where torch creates a tensor for which no device is given."""
    sequentials: list[tuple[Module, Site]] = field(default_factory=list)
    """The Sequentials whose layers are being called, outermost first, with their calls."""


@dataclass(frozen=True)
class MovedName:
    """`net.cuda()` or `net = net.cuda()`, as a statement."""

    name: str
    statement: cst.Expr | cst.Assign
    call: cst.Call
    target: Device
    frame: Frame
    moment: int
    built: Site
    """The call that built the module."""


class UnmovedPart(NamedTuple):
    """What stays in `x.to(device), y`: its place, the move beside it, and where that goes."""

    site: cst.BaseExpression
    move: cst.Call
    device: Device


class Saved(NamedTuple):
    """A file that was written: where the walk began that did, and under which settings."""

    path: object
    entry: Site
    settings: frozenset[str]


Noted = TypeVar("Noted", bound=Notes)
Hears = TypeVar("Hears", bound=Hearer)


class Attention:
    """Who hears the steps of a walk, and what else the parts of the interpreter note of it."""

    def __init__(self) -> None:
        self.steps = Steps()
        """What to call at each step."""
        self._notes: dict[type[Notes], Notes] = {}

    def attend(self, hearers: Iterable[Hearer]) -> None:
        """Let some hear the walk from here on."""
        self._notes |= {type(one): one for one in hearers}
        self.steps = Steps(self.hearers)

    @property
    def hearers(self) -> tuple[Hearer, ...]:
        """Those who hear the walk."""
        return tuple(one for one in self._notes.values() if isinstance(one, Hearer))

    def hearer(self, kind: type[Hears]) -> Hears | None:
        """The one of a kind that hears the walk, where it was needed."""
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
    """What the walk has noted, for itself and for those who ask at the end."""

    def __post_init__(self) -> None:
        super().__init__()

    moment: int = 0
    """How many statements were walked."""
    steps_elsewhere: int = 0
    """How many of these were in files that the checked one imports."""
    lines_elsewhere: int = 0
    """How many lines these files have."""
    imported: dict[Imported, Value] = field(default_factory=dict)
    """What the names stand for that the checked file imports."""
    left_out: bool = False
    """Whether some file was not looked at any more, for there were too many."""
    entered: set[Site] = field(default_factory=set)
    """The functions that were interpreted with the arguments of a call."""
    instantiated: set[Site] = field(default_factory=set)
    """The classes of which there was an object."""
    interpretations: dict[Site, int] = field(default_factory=dict)
    """How often each function was walked."""
    remembered: dict[object, Value] = field(default_factory=dict)
    """What calls gave, by the function and what it was called with."""
    classes: dict[Site, Class] = field(default_factory=dict)
    """The classes that the file defines."""
    pending: list[tuple[Function, Frame]] = field(default_factory=list)
    """The functions that were defined, with the frame that did."""
    demands_accelerator: bool = False
    """Whether the code goes to an accelerator that it writes out, unguarded."""
    skips_a_machine: bool = False
    """Whether a branch was left out because this machine has an accelerator, or none."""
    counts_accelerators: bool = False
    """Whether the code asks how many accelerators there are."""
    moved_back: set[tuple[Ref, str]] = field(default_factory=set)
    """What has left an accelerator again: modules, and names of tensors."""
    hidden: set[Ref] = field(default_factory=set)
    """The modules that lie in a plain container of another one, unregistered."""
    assigned_by: dict[Site, Site] = field(default_factory=dict)
    """The statement of each attribute that was assigned to."""
    backends: set[str] = field(default_factory=set)
    """The names that the program gives to backends of its own."""
    """The names that a scope binds anywhere, for those scopes where a fix asked."""
    made_in: dict[Site, tuple[Frame, int]] = field(default_factory=dict)
    """The frame in which each tensor or module was created, and the moment."""
    moved_siblings: dict[Site, tuple[Site, int]] = field(default_factory=dict)
    """The statement that moves a name, and its moment, by the statement that bound the name."""
    unmoved_parts: dict[Step, UnmovedPart] = field(default_factory=dict)
    """The parts of tuples that stay where others are moved, by what put each where it is."""
    moved_names: dict[Site, MovedName] = field(default_factory=dict)
    """The statements that move modules by their names."""
    moves: dict[Site, Transfer] = field(default_factory=dict)
    """The transfers of the file, as they were made last."""
    guarded_moves: set[Site] = field(default_factory=set)
    """The moves that are made under a condition that the code cannot tell."""
    guarded_here: set[Site] = field(default_factory=set)
    """Those of them whose function has that condition itself, and not who calls it."""
    loads: dict[Site, Load] = field(default_factory=dict)
    """The loads without map_location, and what they are used for."""
    moved_loads: dict[Site, Loaded] = field(default_factory=dict)
    """What was loaded, by the transfer that moved it."""
    ignored: dict[Site, tuple[Event, cst.Call, Value]] = field(default_factory=dict)
    """The calls whose device is ignored: what there is to announce, the call, and its result."""
    learners: dict[Ref, Module] = field(default_factory=dict)
    """The modules that the checked file builds, calls, or gives to an optimizer."""
    leaves: dict[Site, Tensor] = field(default_factory=dict)
    """The tensors that are trained, by the call that makes each."""
    unseen: dict[cst.Call, Frame] = field(default_factory=dict)
    """The calls that build what optimizers are given the parameters of, and nobody sees."""
    optimizes: bool = False
    """Whether the program builds an optimizer."""
    saved_models: dict[object, tuple[Value, frozenset[Device]]] = field(default_factory=dict)
    """The models that were written whole, by their file, and where they were."""
    saved: set[Saved] = field(default_factory=set)
    """The files of checkpoints that were written."""

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


_KEPT = frozenset({"entered", "interpretations", "imported"})
