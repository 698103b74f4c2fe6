"""What a run is to do for a proof, and what its processes leave: files in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Plan:
    """What every process of a run is to do.

    Attributes:
        texts: for each file that is not read itself, without links, the one that is read in its
            place, and the one whose lines are shown as its own, in tracebacks and by `inspect`.
        steps: how many training steps are made; all, if None.
    """

    texts: dict[str, tuple[str, str]]
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """What ended a run that did not pass.

    Attributes:
        type: the class of the exception; empty where there is only the exit status.
        message: what it says of itself, on one line.
        file: where it failed, in the script or a file of the user's; empty where that is unknown.
        line: the line of that file.
        about_devices: whether the message is one of torch's about devices.
    """

    type: str
    message: str
    file: str = ""
    line: int = 0
    about_devices: bool = False


@dataclass(frozen=True, slots=True)
class Loss:
    """What a backward pass began at.

    Attributes:
        step: for which training step, counted from one.
        shown: its value, for people.
        digest: of its bytes.
    """

    step: int
    shown: str
    digest: str


@dataclass(slots=True)
class Left:
    """What one process of a run leaves.

    Attributes:
        steps: the training steps that it made.
        devices: where the parameters were when the optimizers made them.
        digest: of all parameters, at the end; empty where there are none, or they have no bytes.
        enough: whether it ended because all steps were made that were asked for.
        failure: what ended the main program.
        losses: those of its training steps, in order.
        by_hand: whether it had no optimizer; then the devices are those of the losses.
    """

    steps: int = 0
    devices: list[str] = field(default_factory=list)
    digest: str = ""
    enough: bool = False
    failure: Failure | None = None
    losses: list[Loss] = field(default_factory=list)
    by_hand: bool = False


class Folder:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write_plan(self, plan: Plan) -> None:
        """Say what is to be done."""
        self._plan.write_text(json.dumps(asdict(plan)), encoding="utf-8")

    def read_plan(self) -> Plan:
        """What is to be done."""
        return Plan(**json.loads(self._plan.read_text(encoding="utf-8")))

    def claim(self) -> bool:
        """Whether this is the first process of the run to ask."""
        try:
            (self.path / "main").open("x").close()
        except FileExistsError:
            return False
        return True

    def note(self, index: int) -> None:
        """Keep that a marked place was reached."""
        (self.path / f"{index}.made").touch()

    def reached(self) -> frozenset[int]:
        """The indices of the marks that any process reached."""
        return frozenset(int(file.stem) for file in self.path.glob("*.made"))

    def leave(self, process: int, left: Left) -> None:
        """Keep what a process leaves, in the place of what it left before."""
        draft = self.path / f"{process}.draft"
        draft.write_text(json.dumps(asdict(left)), encoding="utf-8")
        draft.replace(self.path / f"{process}.json")

    def left(self) -> Iterator[Left]:
        """What the processes left."""
        for file in sorted(self.path.glob("[0-9]*.json")):
            known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            failure, losses = known.pop("failure"), known.pop("losses")
            yield Left(
                **known,
                failure=Failure(**failure) if failure else None,
                losses=[Loss(**each) for each in losses],
            )

    @property
    def _plan(self) -> Path:
        return self.path / "plan.json"
