"""How a device is written at an event, and how something gets there."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Device
from devicelint.domain.history import Site, Step
from devicelint.domain.values import (
    Value,
)
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.suggestions.device_expressions import Spelling
from devicelint.interpreter.suggestions.device_parameters import (
    HandedDown,
    handed_down,
    tensor_given,
)
from devicelint.interpreter.suggestions.sibling_moves import (
    Beside,
    after_its_building,
    as_it_is_kept,
    beside_siblings,
    move_of_neighbour,
)
from devicelint.interpreter.suggestions.walk_notes import UnmovedPart, UnmovedParts


class MovesHere:
    """How a device is written where an event happened, and where something is moved to it."""

    def __init__(self, run: Run, frame: Frame, moment: int | None = None) -> None:
        self._run = run
        self._frame = frame
        self._spelling = Spelling(run, frame, moment)

    def spelling(self, device: Device) -> str | None:
        """An expression that gives this device here, or None where nothing does."""
        return self._spelling.of(device)

    def move_to(self, device: Device, since: Step | None, place: Site = None) -> str | None:
        """What to append to an expression at `place` to bring it to a device, as the file would."""
        return self._spelling.move_to(device, since, place)

    def device_of_value(self, value: Value, site: Site) -> str | None:
        """An expression for the device of a value that `site` names here: `x.device`."""
        return self._spelling.of_value(value, site)

    def handed_down(self, device: Device | str, site: Site = None) -> HandedDown | None:
        """How this function could get a device that its callers have, for what is made at `site`.

        A name stands for a device that the leading file is going to have at its top.
        """
        return handed_down(self._run, self._frame, device, site)

    def tensor_given(self, site: Site) -> str | None:
        """A tensor parameter by which what is created at `site` has its size."""
        return tensor_given(self._run, self._frame, site)

    def move_of_neighbour(self, built: cst.Call, since: Step | None) -> str | None:
        """The move by which an input came where it is, from above in the block of a building."""
        return move_of_neighbour(self._run, built, since)

    def unmoved_part(self, since: Step | None) -> UnmovedPart | None:
        """The part of a tuple by which a value came along, where others in it are moved."""
        return None if since is None else self._run.hearer(UnmovedParts).parts.get(since)

    def beside_siblings(self, built: cst.Call, device: Device) -> Beside | None:
        """Where the module that a call builds is moved with others that are."""
        return beside_siblings(self._run, built, device)

    def after_its_building(self, built: cst.Call, device: Device, move: Site) -> Beside | None:
        """Where a module is moved that was built too early for `device`, or by a condition."""
        return after_its_building(self._run, built, device, move)

    def as_it_is_kept(self, kept: Site, device: Device) -> cst.BaseExpression | None:
        """What is kept in an attribute, where that of the device has got its value before."""
        return as_it_is_kept(self._run, kept, self._spelling.of(device))
