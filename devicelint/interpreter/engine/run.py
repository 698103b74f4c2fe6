"""One walk through a program in one world.

`Run` holds what the walk knows at this moment: the state, the frame and the world.  The grammar
lies in other packages, which register a handler for each kind of node in `tables`; the run asks
the tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import libcst as cst

from devicelint.domain.alternatives import on_path
from devicelint.domain.conflicts import loses_device
from devicelint.domain.events import Assigned, Clash, DiscardedTransfer, Event, Transfer
from devicelint.domain.history import Site
from devicelint.domain.state import Conflict, State
from devicelint.domain.values import (
    Flag,
    Function,
    Imported,
    Module,
    OneOf,
    Ref,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.domain.worlds import World
from devicelint.interpreter.engine import tables
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.budget import Budget
from devicelint.interpreter.engine.cases import call_with_each, mixed_among, use, walk_cases
from devicelint.interpreter.engine.defaults import Defaults
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.guesses import guesses_of
from devicelint.interpreter.engine.memory import Memory, Muted, Surroundings
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.split import Split
from devicelint.interpreter.engine.tables import BUILTIN_SCOPE, calls, evaluates, executes, resolves
from devicelint.text.positions import written


class Listener(Protocol):
    """Who hears the events of a run."""

    def __call__(self, event: Event, run: Run) -> None:
        """Take note of one event; the run is at the point where it happened."""


class Run(Surroundings, Memory, Defaults):
    """The walk: where it is, what holds there, and in which world."""

    def __init__(
        self,
        program: Program,
        world: World,
        listener: Listener,
        *,
        budget: Budget,
        splits: bool,
    ) -> None:
        Surroundings.__init__(self)
        Memory.__init__(self)
        self.program = program
        self.world = world
        self.splits = splits
        """Whether this walk may be given up for one in each of two worlds."""
        self.state = State()
        self.begin_with_defaults()
        self.frame = Frame.of_module(program.tree, program.home)
        self.listener = listener
        self.guesses = guesses_of(program.guesses)
        self.budget = budget
        self._muted = Muted(self)
        self._look_at = 0
        self._last_transfer: Transfer | None = None
        self._addresses: dict[tuple[Site, Ref, str, tuple[int, ...]], Ref] = {}

    def let_go(self) -> None:
        """Forget everything: a run and those who hear it hold each other, and all that it met."""
        vars(self).clear()

    # -- the file --------------------------------------------------------------------------

    @property
    def module(self) -> cst.Module:
        """The tree of the file that is being walked, where findings are reported of it."""
        return self.file.tree

    @property
    def module_code(self) -> str:
        """The text of that file."""
        return self.file.text

    @property
    def file(self) -> Program:
        """The file that is being walked, where findings are reported of it."""
        frame = self.frame
        return self.program.also_reported[frame.home] if frame.is_reported else self.program

    # -- walking ---------------------------------------------------------------------------

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of an expression; `Unknown` for what is not understood."""
        if (handler := evaluates.get(type(node))) is None:
            return Unknown(f"{type(node).__name__} is not modelled")
        value = handler(self, node)
        if type(value) is OneOf:
            value = on_path(value, self.state.facts)
        settle = tables.settles.get(type(value))
        return value if settle is None else settle(self, value, node)

    def execute(self, statement: cst.CSTNode) -> None:
        """Do what a statement does to the state."""
        self.moment += 1
        if self.moment >= self._look_at:
            self._look_at = self.budget.look(self.moment)
        self.steps_elsewhere += self.frame.home != self.program.home
        if (handler := executes.get(type(statement))) is None:
            return
        if self.state.told_apart:
            walk_cases(self, statement, handler)
        else:
            handler(self, statement)

    def execute_block(self, body: cst.BaseSuite | cst.Module) -> None:
        """Execute statements until the path ends."""
        for statement in body.body:
            if self.state.dead:
                return
            self.execute(statement)

    def call(self, callee: Value, arguments: Arguments, site: cst.Call) -> Value:
        """What calling a value gives."""
        several = mixed_among(arguments)
        if several is not None:
            return call_with_each(self, several, arguments, lambda a: self.call(callee, a, site))
        caller = calls.get(type(callee))
        if caller is None:
            use(self, callee)
            return Unknown(f"calling {type(callee).__name__} is not modelled")
        return caller(self, callee, arguments, site)

    # -- names -----------------------------------------------------------------------------

    def lookup(self, name: str) -> Value:
        """The value of a name here: local, enclosing, global or builtin.

        A name that nothing binds stands for something outside the file.
        """
        state, frame = self.state, self.frame
        found = state.find(frame.refs_of(name) if frame.not_local else frame.in_sight, name)
        if found is not None:
            value = found[1]
            if type(value) in resolves:
                value = self._resolved(*found, name)
            return self.state.as_met(value) if self.state.met else value
        # What another path alone has bound: to read it raises.
        self.state.failed |= not self.world.accelerators and name in frame.bindings
        return BUILTIN_SCOPE.get(name) or Symbolic(name)

    def _resolved(self, ref: Ref, value: Value, name: str) -> Value:
        """What a name stands for that may have been imported; asked once, or on each path."""
        found = resolves[type(value)](self, value)
        if self.frame.is_checked and not (self.state.facts or isinstance(value, Imported)):
            self.state.write(ref, name, found)
        return found

    def bind(self, name: str, value: Value, site: Site) -> None:
        """Give a name a value, in the scope that the function declares for it."""
        frame = self.frame
        self.state.write(frame.scope_of(name, self.state), name, value)
        frame.bindings[name] = frame.statement
        frame.first_bound.setdefault(name, self.moment)
        frame.last_bound[name] = self.moment
        if self.tells_of_names:
            self.announce(Assigned(site, name, value))

    # -- truth -----------------------------------------------------------------------------

    def decide(self, flag: Flag) -> bool | None:
        """What this world says of a flag."""
        truth = self.world.truth(flag)
        if truth is None:
            self.undecided.add(flag.key)
        return truth

    def expects(self, exception: str) -> bool:
        """Whether the code is prepared for an exception here: it tries, and does otherwise."""
        return exception in self.expected

    def merge(self, other: State, flag: Flag | None, *, apart: bool = False) -> None:
        """Go on with what holds on both paths, or either; `flag` is what separated them."""
        conflicts: list[Conflict] = self.state.merge(other, apart=apart)
        if conflicts and flag is not None and self.splits and self.frame.is_checked:
            raise Split.between(flag, *conflicts[0])
        for one, value in conflicts:
            self.steps.joined(one, value)

    def sequential_at(self, site: Site) -> Module | None:
        """The outermost Sequential that a call is of, while its layers are called."""
        return next((module for module, call in self.sequentials if call is site), None)

    def note_made(self, site: Site) -> None:
        """Remember where a tensor or module is created: a fix may say there on which device."""
        if self.frame.is_checked:
            self.made_in[site] = (self.frame, self.moment)

    def note_function(self, function: Function) -> None:
        """Remember a function that is defined here: it is walked on its own if nobody calls it."""
        if self.frame.is_checked:
            self.pending.append((function, self.frame))

    def separate(self, flag: Flag, one: Value, other: Value, joined: Value) -> None:
        """Two paths that a flag separates give these values: where that loses a device, split."""
        if self.splits and self.frame.is_checked and loses_device(one, other, joined):
            raise Split.between(flag, one, other)

    # -- events ----------------------------------------------------------------------------

    def announce(self, event: Event) -> None:
        """Let the rules know; what goes wrong in another file is found where that is checked."""
        if not self.muted_parts and self.concerns(event):
            self.listener(event, self)

    explains = False
    """Whether somebody asks why a clash is reported or is not."""

    def explain(self, event: Event) -> None:
        """Let who asks know of an event, wherever it happens and whether or not it is reported."""

    def concerns(self, event: Event) -> bool:
        """Whether an event happens in the file that is checked."""
        clash: Clash | None = getattr(event, "clash", None)
        frame = getattr(event, "frame", None) or (self.frame if clash is None else clash.frame)
        return isinstance(frame, Frame) and frame.is_checked

    def muted(self) -> AbstractContextManager[None]:
        """Walk without reporting anything: what happens is known, or not the user's affair."""
        return self._muted

    @contextmanager
    def diverted_to(self, listener: Listener) -> Iterator[Listener]:
        """Send what happens to another listener alone, even where the walk is muted.

        Gives the listener of before.
        """
        outer, self.listener = self.listener, listener
        muted_parts, self.muted_parts = self.muted_parts, 0
        try:
            yield outer
        finally:
            self.listener, self.muted_parts = outer, muted_parts

    def announce_transfer(self, transfer: Transfer) -> None:
        """Announce a transfer, and remember it in case its result is thrown away."""
        self._last_transfer = transfer
        self.steps.transfer(transfer)
        self.announce(transfer)

    def announce_discarded(self, expression: cst.BaseExpression, statement: Site) -> None:
        """Announce that the value of an expression statement was a transfer's result."""
        transfer = self.discarded_by(expression)
        if transfer is not None:
            self.announce(DiscardedTransfer(transfer, statement))

    def discarded_by(self, expression: cst.BaseExpression) -> Transfer | None:
        """The transfer that an expression statement was, if it was one."""
        transfer = self._last_transfer
        return transfer if transfer is not None and transfer.site is expression else None

    def code_of(self, node: cst.CSTNode) -> str:
        """The source text of a node, without what surrounds it."""
        code = self.program.code.get(node)
        if code is None:
            code = self.program.code[node] = written(self.module, node).strip()
        return code

    # -- objects ---------------------------------------------------------------------------

    def allocate(self, site: Site, what: str = "") -> Ref:
        """The address of an object that `site` makes in this frame; the same one each time.

        Iterations that are told apart make objects of their own.
        """
        key = (site, self.frame.ref, what, self.frame.iteration)
        address = self._addresses.get(key)
        if address is None:
            home, number = self.program.home, len(self._addresses) + 1
            address = self._addresses[key] = f"{home}#{number}" if home else number
        self.state.reset(address)
        return address

    def allocated(self, site: Site, what: str = "") -> Ref | None:
        """The address of an object that `site` has made in this frame before."""
        return self._addresses.get((site, self.frame.ref, what, self.frame.iteration))
