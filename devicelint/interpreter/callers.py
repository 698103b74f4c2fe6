"""What a file gives to the functions of other files, and writes: walking it shows both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import libcst as cst

from devicelint.domain.calls import Call, Given
from devicelint.domain.checkpoints import WrittenFile
from devicelint.domain.devices import CPU, Device, DeviceOf, is_accelerator, may_be_accelerator
from devicelint.domain.events import Event, LoadUse
from devicelint.domain.history import Site
from devicelint.domain.standing import Conduct
from devicelint.domain.values import (
    Array,
    Class,
    Const,
    DeviceHandle,
    HostObject,
    HostValue,
    Instance,
    ListOf,
    Module,
    OneOf,
    Stream,
    Tuple,
    Value,
)
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.attempts import Retractable
from devicelint.interpreter.engine.budget import Budget, BudgetExceeded
from devicelint.interpreter.engine.frame import GLOBALS, Frame
from devicelint.interpreter.engine.nodes import parameters_of
from devicelint.interpreter.engine.objects import CLASS_FIELD, module_device, order_of_bases
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.engine.steps import Hearer
from devicelint.interpreter.facts.host_callers import is_reached_from_tests
from devicelint.interpreter.facts.module_inputs import is_input_of_module
from devicelint.interpreter.facts.named_devices import names_accelerator
from devicelint.interpreter.torch.checkpoints.uses import Loads
from devicelint.interpreter.worlds import explore

Signature = tuple[str, tuple[str, ...]]
"""The name of a function, and those of its parameters."""
Calls = Mapping[tuple[str, Signature], Mapping[str, list[Call]]]
"""What is given to each parameter of the functions of other files, by their homes."""


def signature_of(node: cst.CSTNode, cls: str = "") -> Signature | None:
    """By what a function is known in its file, whoever has parsed that; `cls` has a constructor."""
    if not isinstance(node, cst.FunctionDef):
        return None
    name = f"{cls}.{node.name.value}" if cls else node.name.value
    return name, tuple(one.name.value for one in parameters_of(node))


class SeenLoad(NamedTuple):
    """What a function of another file loads where it is called.

    Attributes:
        fits: whether that fits every machine, as what the same run has saved does.
        uses: what is made of it.
    """

    fits: bool
    uses: frozenset[LoadUse]


SeenLoads = Mapping[tuple[str, Signature], Collection[SeenLoad]]
"""What the functions of other files load, by their homes."""


class Shown(NamedTuple):
    """What the walk of a file shows to those who ask about its project.

    Attributes:
        calls: what it gives to the functions of other files; tests give what they like.
        written: the files with tensors in them that it saves, whoever calls it.
        loads: what functions of other files load where it calls them.
        clashes: whether something clashes in other files where it calls them.
    """

    calls: Calls
    written: Collection[WrittenFile]
    loads: SeenLoads
    clashes: bool = False


NOTHING = Shown({}, frozenset(), {})
"""What a file shows that cannot be read."""


class Showing:
    """Gathers what the walk of a file shows to those who ask about its project."""

    def __init__(self) -> None:
        """Nothing was walked yet."""
        self._found: dict[tuple[str, Signature], dict[str, list[Call]]] = {}
        self._loading: list[_Loading] = []

    def begin(
        self, program: Program, world: World, listener: Listener, *, budget: Budget, splits: bool
    ) -> Run:
        """The run of a walk, which is heard."""
        run = Run(program, world, listener, budget=budget, splits=splits)
        self._loading.append(_Loading(run))
        run.attend([_Entered(run, self._found), self._loading[-1]])
        return run

    def shown(self, program: Program) -> Shown | None:
        """What a program has shown; None where nobody has heard what it makes of what it loads."""
        loads = _readings(self._loading)
        if loads is None:
            return None
        return Shown(self._found, frozenset(program.written), loads, bool(program.clashing))

    def close(self) -> None:
        """Free what the walks have met: they are over."""
        for one in self._loading:
            one.run.let_go()


def shown_by(program: Program) -> Shown:
    """Walk a file of a project, once for all that others ask about it."""
    alone, showing = _alone(program), Showing()
    with suppress(BudgetExceeded, RecursionError):
        explore(alone, lambda _: _NOBODY, showing.begin, _LOADS)
    shown = showing.shown(alone) or NOTHING
    showing.close()
    return shown


def _alone(program: Program) -> Program:
    """The file, to be walked for what others ask about it."""
    return replace(
        program,
        home=GLOBALS,
        walked={},
        conduct=Conduct(),
        choosing=set(),
        written=set(),
        clashing=set(),
        code={},
        reads={},
    )


class _Entered(Hearer):
    """Notes what the functions of other files are given."""

    def __init__(self, run: Run, found: dict[tuple[str, Signature], dict[str, list[Call]]]) -> None:
        self._run = run
        self._found = found

    def fork(self) -> _Entered:
        return self

    def on_entered(self, frame: Frame) -> None:
        cls = _class_made(self._run, frame) if frame.name == "__init__" else ""
        signature = None if frame.home == GLOBALS else signature_of(frame.node, cls)
        if signature is None or frame.site is None or frame.caller is None:
            return
        if self._run.meant_to_fail:
            return
        site = _call_of_this_file(frame)
        if site is None:
            return
        noted = self._found.setdefault((str(frame.home), signature), {})
        for name in signature[1]:
            value = self._run.state.read(frame.ref, name)
            given = None if value is None else self._given(value)
            if given is not None and (frame.caller.is_checked or given in _SHOWN):
                noted.setdefault(name, []).append(Call(given, site))

    def _given(self, value: Value) -> Given:
        given = _place_of(self._run, value)
        if given is Given.HOST and is_reached_from_tests(self._run):
            return Given.UNKNOWN
        return given


_SHOWN = frozenset({Given.ACCELERATOR, Given.CHOSEN})
"""What counts where another file hands it on: this one has led to a device that is known."""


class _Loading(Hearer):
    """Notes what the functions of other files load, and what is made of it."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._found: set[tuple[str, Signature, Site, bool]] = set()

    def fork(self) -> _Loading:
        return self

    def on_loaded(self, site: cst.Call, *, fits: bool) -> None:
        frame = self.run.frame
        signature = None if frame.home == GLOBALS else signature_of(frame.node)
        if signature is not None:
            self._found.add((str(frame.home), signature, site, fits))

    @property
    def uses(self) -> Loads | None:
        """What is made of what is loaded, where somebody hears that."""
        return self.run.find_hearer(Loads)

    def readings(self, uses: Loads) -> Iterator[tuple[tuple[str, Signature], SeenLoad]]:
        """What was loaded, by the function that did."""
        for home, signature, site, fits in self._found:
            load = uses.loads.get(site)
            yield (home, signature), SeenLoad(fits, frozenset() if load is None else load.uses)


def _readings(loading: Iterable[_Loading]) -> SeenLoads | None:
    found: dict[tuple[str, Signature], set[SeenLoad]] = {}
    for one in loading:
        if (uses := one.uses) is None:
            return None
        for key, reading in one.readings(uses):
            found.setdefault(key, set()).add(reading)
    return found


def _call_of_this_file(frame: Frame) -> cst.Call | None:
    """The call in the file that is walked which has led to a function of another one."""
    for one in frame.outwards():
        if one.caller is not None and one.caller.is_checked:
            return one.site
    return None


def _class_made(run: Run, frame: Frame) -> str:
    """The class whose constructor is entered: that which defines it."""
    made = frame.receiver
    cls = run.state.read(made.ref, CLASS_FIELD) if isinstance(made, (Instance, Module)) else None
    among = order_of_bases(cls) if isinstance(cls, Class) else ()
    return next((one.name for one in among if one.ref == frame.owner), "")


def _place_of(run: Run, value: Value) -> Given:
    match value:
        case Const(str()) if names_accelerator(value):
            return Given.ACCELERATOR
        case Const() | Array() | HostValue() | HostObject():
            return Given.HOST
        case Module():
            return _of_device(run, module_device(run, value).device, value)
        case Tuple(items):
            return _of_all(_place_of(run, one) for one in items)
        case OneOf(options):
            return _of_all(_place_of(run, one) for one in options)
        case Stream(element):
            return _place_of(run, element)
        case ListOf(ref):
            held = tuple(run.state.fields(ref).values())
            return _of_all(_place_of(run, one) for one in held)
        case _:
            device: Device | None = getattr(value, "device", None)
            return Given.UNKNOWN if device is None else _of_device(run, device, value)


def _of_device(run: Run, device: Device, value: Value) -> Given:
    if device == CPU:
        return Given.HOST
    if is_accelerator(device):
        return Given.ACCELERATOR
    if may_be_accelerator(device):
        return Given.CHOSEN
    if isinstance(device, DeviceOf) and not isinstance(value, DeviceHandle):
        return Given.INPUT if is_input_of_module(run, device) else Given.UNKNOWN
    return Given.UNKNOWN


def _of_all(places: Iterator[Given]) -> Given:
    """Where several things are: what is on an accelerator decides, then what is not known."""
    found = set(places)
    for one in (Given.ACCELERATOR, Given.CHOSEN, Given.INPUT, Given.UNKNOWN):
        if one in found:
            return one
    return Given.HOST


def _ignore(event: Event, run: Run) -> None:
    """What goes wrong in it is found where it is checked itself."""


_NOBODY = Retractable(_ignore, [])
_LOADS = frozenset(one.__name__ for one in Loads.serves)
