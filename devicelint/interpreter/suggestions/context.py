"""What a rule may ask about the point of the program at which an event happened."""

from __future__ import annotations

import os
from functools import cached_property

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf
from devicelint.domain.events import Clash
from devicelint.domain.history import Site
from devicelint.domain.values import Instance
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import descendants, parameters_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.item_paths import root_of
from devicelint.interpreter.facts.loop_shapes import comes_round
from devicelint.interpreter.python.paths.questions import taken_for_true
from devicelint.interpreter.suggestions.code_around import CodeAround
from devicelint.interpreter.suggestions.intent import Intent
from devicelint.interpreter.suggestions.moves_here import MovesHere
from devicelint.interpreter.suggestions.names_in_sight import NamesInSight
from devicelint.interpreter.suggestions.walk_notes import SiblingMoves


class RuleContext:
    """The point of the program where an event happens; only to be asked while it happens."""

    def __init__(self, run: Run, frame: Frame | None = None, moment: int | None = None) -> None:
        self._run = run
        self._frame = run.frame if frame is None else frame
        self._moment = moment

    @cached_property
    def source(self) -> CodeAround:
        """The code around, as it is written."""
        return CodeAround(self._run, self._frame)

    @cached_property
    def names(self) -> NamesInSight:
        """What names stand for here."""
        return NamesInSight(self._run, self._frame)

    @cached_property
    def moves(self) -> MovesHere:
        """How a device is written here, and where something is moved to it."""
        return MovesHere(self._run, self._frame, self._moment)

    @cached_property
    def intent(self) -> Intent:
        """What the program is for."""
        return Intent(self._run, self._frame)

    def at(self, clash: Clash) -> RuleContext:
        """The context where the culprit stands, which may be a call further out."""
        assert isinstance(clash.frame, Frame)
        return RuleContext(self._run, clash.frame)

    def handed_on(self, clash: Clash) -> list[tuple[RuleContext, Site]]:
        """The places that hand the culprit on to where it fails, after the one where it stands.

        The outermost comes first.  What is given to a Module is for its caller to move.
        """
        found: list[tuple[RuleContext, Site]] = []
        frame, since, site = self._run.frame, clash.culprit.since, self._named_in(clash)
        while frame is not clash.frame and frame.caller is not None and since in frame.passed:
            if frame.module is None:
                found.append((RuleContext(self._run, frame), site))
            frame, site = frame.caller, frame.passed[since]
        return found[::-1]

    def _named_in(self, clash: Clash) -> Site:
        """The parameter under which the culprit came to where it fails."""
        assert isinstance(clash.failing, cst.CSTNode)
        held = self._run.state.fields(self._run.frame.ref)
        return next(
            (
                one
                for one in descendants(clash.failing)
                if isinstance(one, cst.Name)
                and getattr(held.get(one.value), "since", None) is clash.culprit.since
            ),
            None,
        )

    def is_at(self, clash: Clash) -> bool:
        """Whether this is the frame in which the culprit stands."""
        return clash.frame is self._frame

    @property
    def world(self) -> World:
        """The machine on which this happens."""
        return self._run.world

    @property
    def circumstances(self) -> World:
        """The machine on which this happens, and what else has to come out so for it to happen."""
        world = self._run.world
        for condition, holds in taken_for_true(self._run):
            world = world.choosing(condition, holds)
        return world

    def code(self, site: Site) -> str:
        """The source of an expression, as it is written."""
        assert isinstance(site, cst.CSTNode)
        return self._run.code_of(site)

    def spelling(self, device: Device) -> str | None:
        """An expression that gives this device here, or None where nothing does."""
        return self.moves.spelling(device)

    @property
    def statement(self) -> Site:
        """The statement that is being walked."""
        return self._run.frame.statement

    @property
    def leading_file(self) -> str:
        """The absolute path of the file that is checked, and leads the others."""
        return os.path.abspath(self._run.program.path)

    def where_made(self, site: Site) -> RuleContext | None:
        """The context in which a tensor or module was created, with the names of that moment."""
        made = self._run.made_in.get(site)
        if made is None:
            return None
        frame, moment = made
        # What the very statement binds has no value yet; the parameter of a lambda has.
        is_block = isinstance(frame.node, (cst.FunctionDef, cst.ClassDef, cst.Module))
        return RuleContext(self._run, frame, moment - is_block)

    def sees_where_made(self, site: Site, met: Device) -> bool:
        """Whether a tensor was created in this function, around it, or by the same object.

        What was created as the object was made cannot be where one of its methods is called later
        with what a caller has: it is to be moved there.
        """
        made = self._run.made_in.get(site)
        if made is None:
            return False
        frame, here = made[0], self._frame
        same_object = frame.receiver is not None and frame.receiver == here.receiver
        if same_object and isinstance(met, DeviceOf) and isinstance(frame.receiver, Instance):
            same_object = frame.name != "__init__" or _is_given(frame, met)
        return same_object or frame.ref in (here.ref, here.home, *here.scopes)

    def comes_round(self, site: Site) -> bool:
        """Whether a place follows in the loop around this: what it does is met the next time."""
        return comes_round(self._frame, site)

    def where_bound(self, name: cst.Name) -> RuleContext:
        """The context right after a local name got its value."""
        moment = self._frame.last_bound.get(name.value)
        return RuleContext(self._run, self._frame, moment)

    def beside(self, statement: Site) -> tuple[cst.Assign, RuleContext] | None:
        """The statement that moves another name which `statement` bound, and its context."""
        found = self._run.hearer(SiblingMoves).moved.get(statement)
        if found is None or not isinstance(found[0], cst.Assign):
            return None
        return found[0], RuleContext(self._run, self._frame, found[1])


def _is_given(frame: Frame, device: DeviceOf) -> bool:
    """Whether a function is given what has a device."""
    node = frame.node
    given = parameters_of(node) if isinstance(node, (cst.FunctionDef, cst.Lambda)) else ()
    return root_of(device.place) in {one.name.value for one in given}
