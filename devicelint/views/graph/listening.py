"""Listens to a walk, and notes where each value is, what it was made from, and what moved it."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, NOT_UNDERSTOOD, Device, Unsure
from devicelint.domain.events import Assigned, DiscardedTransfer, Evaluated, Event, Transfer
from devicelint.domain.history import Verb
from devicelint.domain.values import Array, DeviceHandle, Module, OneOf, Symbolic, TensorDict, Value
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.torch.modules.registration import is_without_tensors
from devicelint.interpreter.torch.reveal import HOST_MEMORY, revealed_device
from devicelint.linter.collector import parent_of
from devicelint.text.source import SourceFile
from devicelint.views.graph.chart import Sight
from devicelint.views.graph.noted import NotedMove, NotedValue
from devicelint.views.graph.notes import SightNotes
from devicelint.views.graph.tree import Tree
from devicelint.views.why import since

READS = frozenset({"item", "tolist", "numpy"})
"""Methods of a tensor that bring what it holds to Python's own memory."""

_IN_PLACE = (Module, TensorDict)
"""What is moved itself: nobody needs to take what the call returns."""


class Charting:
    """Listens to walks; what is seen in each world is one sight."""

    def __init__(self, module: cst.Module) -> None:
        self._tree = Tree(module)
        self.watched = self._tree.nodes
        """What the walk is to record the value of."""
        self._walks: dict[World, SightNotes] = {}

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; a walk that is given up is forgotten."""
        self._walks.pop(parent_of(world) or world, None)
        listening = _Hearing(self._tree)
        self._walks[world] = listening.notes

        def listen(event: Event, run: Run) -> None:
            if run.concerns(event):
                listening.listen(event, run)

        return listen

    def sights(self, source: SourceFile) -> tuple[Sight, ...]:
        """What was seen in each world, in the order of the walks."""
        return tuple(
            notes.sight(world.description, source, self._tree)
            for world, notes in self._walks.items()
        )


class _Hearing:
    """One walk."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.notes = SightNotes()

    def listen(self, event: Event, run: Run) -> None:
        """Take note of an event."""
        match event:
            case Evaluated():
                self._evaluated(_node(event.site), event.value, run)
            case Assigned():
                scope = run.frame.scope_of(event.name, run.state)
                self._given(_node(event.site), (scope, event.name), event.value, run)
            case Transfer():
                self._moved(event, run)
            case DiscardedTransfer(transfer) if not isinstance(transfer.receiver, _IN_PLACE):
                self.notes.discard(transfer.site)
            case _:
                pass

    def _evaluated(self, site: cst.CSTNode, value: Value, run: Run) -> None:
        device = _device_of(value, run)
        self.notes.read(site, device)
        if isinstance(site, cst.Call):
            self._asked(site, run)
        elif not isinstance(device, Unsure) and not isinstance(value, DeviceHandle):
            self._used(site, value, run)
        target = self._tree.attribute_given(site)
        if target is not None and not self._is_part(site, value):
            self._given(target, (None, run.code_of(target)), value, run)

    def _used(self, site: cst.CSTNode, value: Value, run: Run) -> None:
        """A name or an attribute is read."""
        if isinstance(site, (cst.Name, cst.Attribute)):
            made = self._meant_by(site, run) or self.notes.born_of(since(value, run))
            if made is not None:
                self.notes.use(self._tree.statement_of(site), made)

    def _is_part(self, site: cst.CSTNode, value: Value) -> bool:
        """Whether a module is only built to belong to another one, which has the name."""
        return isinstance(value, Module) and not self.notes.moves_in(self._tree.statement_of(site))

    def _asked(self, call: cst.Call, run: Run) -> None:
        """Python asks for what a tensor of a device holds: `loss.item()`."""
        func = call.func
        if not isinstance(func, cst.Attribute) or func.attr.value not in READS:
            return
        origin = self.notes.device_of(func.value)
        if origin is not None and origin not in (CPU, HOST_MEMORY):
            receiver = (func.value, run.code_of(func.value))
            move = self.notes.move((call, func.attr.value), receiver, (origin, HOST_MEMORY))
            source = self._meant_by(func.value, run)
            self.notes.connect(move, source, self._tree.statement_of(call))

    def _given(self, site: cst.CSTNode, name: tuple[object, str], value: Value, run: Run) -> None:
        """A name or an attribute is given a value."""
        device = _device_of(value, run)
        statement = self._tree.statement_of(site)
        is_kept = isinstance(value, Array) or self.notes.asks(statement)
        step = since(value, run)
        if isinstance(device, Unsure) or (device == HOST_MEMORY and not is_kept):
            return
        if step is not None and step.verb is Verb.STAYED:
            return
        noted = self.notes.value(site, name[1], device, value)
        self.notes.derive(noted, statement, step)
        self.notes.define(*name, noted)

    def _moved(self, event: Transfer, run: Run) -> None:
        site, receiver = _node(event.site), _node(event.receiver_site)
        if event.target is None or isinstance(event.target, Unsure):
            return
        if _is_empty(event.receiver, run):
            return
        origin = None if isinstance(event.origin, Unsure) else event.origin
        if str(origin) == str(event.target):
            return
        step = since(event.receiver, run)
        if isinstance(event.receiver, Module):
            step = event.receiver.since
        source = self._meant_by(receiver, run) or self.notes.born_of(step)
        way = (origin, event.target)
        move = self.notes.move((site, event.method), (receiver, run.code_of(receiver)), way)
        if step is not None and step.site is not site:
            move.since = _node(step.site)
        self.notes.connect(move, source, self._tree.statement_of(site))
        if isinstance(event.receiver, Module):
            self._moved_in_place(move, event.receiver, run)

    def _moved_in_place(self, move: NotedMove, module: Module, run: Run) -> None:
        """`model.to(device)` as a statement: the name stands for what is moved from here on."""
        if move.source is None or move.result is not None:
            return
        name = move.source.name
        move.result = self.notes.value(move.site, name, move.target, module)
        self.notes.define(run.frame.scope_of(name, run.state), name, move.result)

    def _meant_by(self, site: cst.CSTNode, run: Run) -> NotedValue | None:
        if not isinstance(site, (cst.Name, cst.Attribute)):
            return None
        frame = run.frame
        scopes = (frame.ref, *frame.scopes, frame.home, None)
        return self.notes.defined(scopes, run.code_of(site))


def _device_of(value: Value, run: Run) -> Device:
    """Where a value is; what comes from outside may be anything, a loss has nothing anywhere."""
    if isinstance(value, Symbolic) or _is_empty(value, run):
        return NOT_UNDERSTOOD
    return revealed_device(run, value)


def _is_empty(value: Value, run: Run) -> bool:
    options = value.options if isinstance(value, OneOf) else (value,)
    return all(isinstance(one, Module) and is_without_tensors(run, one) for one in options)


def _node(site: object) -> cst.CSTNode:
    assert isinstance(site, cst.CSTNode)
    return site
