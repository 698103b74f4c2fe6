"""Walks through a program that note what every expression is, walk by walk of each function."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from benchmarks.agreement.claims.owned import kinds_of
from benchmarks.agreement.claims.values import Claim, claims_of
from devicelint.domain.events import Event
from devicelint.domain.values import Class, Module, OneOf, Value
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.budget import Budget
from devicelint.interpreter.engine.frame import GLOBALS, Frame
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Listener, Run

NOTED = frozenset(
    {
        cst.Name,
        cst.Attribute,
        cst.Call,
        cst.Subscript,
        cst.BinaryOperation,
        cst.UnaryOperation,
        cst.BooleanOperation,
        cst.Comparison,
        cst.IfExp,
        cst.NamedExpr,
        cst.Await,
        cst.Yield,
    }
)
"""What the recorder notes as well."""

FrameClaims = dict[cst.CSTNode, dict[Claim, None]]
"""What one walk through a function says of its expressions, each time that it comes to one."""


@dataclass
class WorldClaims:
    """What the walks in one world say.

    Attributes:
        frames: of each walk of a function, or of the file itself, what it says.
        elsewhere: the same of functions of other files that were called from this one, where it
            was asked for.
        owned: of each class of modules, what its attributes are taken for when `forward` begins.
    """

    frames: dict[Frame, FrameClaims] = field(default_factory=dict)
    elsewhere: dict[Frame, FrameClaims] = field(default_factory=dict)
    owned: dict[cst.CSTNode, dict[str, set[str]]] = field(default_factory=dict)


class Claiming:
    """The notes of all walks through a program, by their worlds.

    Args:
        follows: whether walks are noted as well that lead into other files.
    """

    def __init__(self, *, follows: bool = False) -> None:
        self._follows = follows
        self.worlds: dict[World, WorldClaims] = {}

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk: events are not asked for."""
        self.worlds[world] = WorldClaims()
        return _hear_nothing

    def walker(
        self, program: Program, world: World, listener: Listener, *, budget: Budget, splits: bool
    ) -> Run:
        """A run that notes what expressions are; for `explore`."""
        run = _ClaimingRun(program, world, listener, budget=budget, splits=splits)
        run.notes_are(self.worlds[world], follows=self._follows)
        return run


def _hear_nothing(event: Event, run: Run) -> None:
    """Events are the rules' affair."""


class _ClaimingRun(Run):
    """Notes the value of each expression of the file that is checked."""

    def __init__(
        self,
        program: Program,
        world: World,
        listener: Listener,
        *,
        budget: Budget,
        splits: bool,
    ) -> None:
        super().__init__(program, world, listener, budget=budget, splits=splits)
        self._first_listener = listener
        self._claims = WorldClaims()
        self._follows = False
        self._unnamed: set[cst.Call] = set()
        """The calls under way of which it was not seen yet what is called."""

    def notes_are(self, notes: WorldClaims, *, follows: bool) -> None:
        """Note it there; where it leads into other files, too, if it follows."""
        self._claims, self._follows = notes, follows

    def _noted(self, frame: Frame) -> dict[Frame, FrameClaims]:
        return self._claims.frames if frame.home == GLOBALS else self._claims.elsewhere

    def call(self, callee: Value, arguments: Arguments, site: cst.Call) -> Value:
        """What calling a value gives; a part of a module, as in `self.layer(x)`, is noted.

        Such a part is called without being evaluated.
        """
        if site in self._unnamed:
            self._unnamed.discard(site)
            if isinstance(callee, (Module, OneOf)) and isinstance(site.func, cst.Attribute):
                self._note(self.frame, site.func, callee)
        return super().call(callee, arguments, site)

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of an expression, which is noted."""
        frame = self.frame
        is_here = frame.home == GLOBALS
        if not (is_here or self._follows) or not self._is_believed:
            return super().evaluate(node)
        if frame not in self._noted(frame):
            self._noted(frame)[frame] = {}
            if is_here:
                self._note_owned(frame)
        if isinstance(node, cst.Call):
            self._unnamed.add(node)
        value = super().evaluate(node)
        if type(node) in NOTED:
            self._note(frame, node, value)
        return value

    def _note(self, frame: Frame, node: cst.BaseExpression, value: Value) -> None:
        notes = self._noted(frame)[frame]
        notes.setdefault(node, {}).update(dict.fromkeys(claims_of(self, value)))

    @property
    def _is_believed(self) -> bool:
        """Not where another one listens alone, to what may never happen, or nobody does."""
        return not self.muted_parts and self.listener is self._first_listener

    def _note_owned(self, frame: Frame) -> None:
        """What a module is taken to own when its `forward` begins."""
        receiver = frame.receiver
        if frame.name != "forward" or not isinstance(receiver, Module):
            return
        kind = self.state.read(receiver.ref, CLASS_FIELD)
        if not isinstance(kind, Class) or kind.home != GLOBALS:
            return
        assert isinstance(kind.node, cst.CSTNode)
        owned = self._claims.owned.setdefault(kind.node, {})
        for name, value in self.state.fields(receiver.ref).items():
            if not name.startswith(("@", "[")):
                owned.setdefault(name, set()).update(kinds_of(self, value))
