"""What devicelint has to say about a file: findings, and the edits that would fix them.

Everything here is a small frozen value.  Places are character offsets into the text that was
checked; `devicelint.text.source.SourceFile` turns them into lines and columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

REVEALED = "DEV000"
"""The code of an answer to `reveal_device(…)`: asked for, so no mistake."""
FOR_ACCELERATORS = "DEV409"
"""The code of what is said of a program that takes the machine as it is."""

FAR = "its fix belongs in another file"
"""Why a finding has no fix that can be made in its own file alone."""


class Location(NamedTuple):
    """What people call a place in a file."""

    line: int
    """From 1; in a notebook, of the cell."""
    column: int
    """From 0."""
    cell: int | None = None
    """From 1, of all the cells of a notebook; None in other files."""

    @property
    def line_text(self) -> str:
        """The line as a sentence has it, after the word "line"."""
        return f"{self.line}" if self.cell is None else f"{self.line} of cell {self.cell}"

    @property
    def line_named(self) -> str:
        """The line as it follows the name of its file."""
        return f"{self.line}" if self.cell is None else f"cell {self.cell}:line {self.line}"

    def __str__(self) -> str:
        return f"{self.line_named}:{self.column + 1}"


class Severity(Enum):
    """How much a finding matters, on one axis."""

    ERROR = "error"
    """Fails, or gives wrong results, where it says."""
    WARNING = "warning"
    """Fails elsewhere, or under the condition that the message states."""
    NOTE = "note"
    """Works; worth knowing."""


class Certainty(Enum):
    """How devicelint knows the devices that a finding is about."""

    CERTAIN = "certain"
    """Every device involved was read from the code."""
    CONTRACT = "by contract"
    """A device is the choice of whoever calls the function, and the code ignores that choice."""
    BELIEF = "by belief"
    """Another line of the same code takes the device for granted."""
    POSSIBLE = "possible"
    """A device is the choice of whoever calls the function, and nothing says that it is made."""


class Safety(Enum):
    """Whether a fix may change what the program does, apart from fixing it."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, order=True)
class Span:
    """The characters from `start` up to, not including, `end`."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: {self.start} to {self.end}")

    def overlaps(self, other: Span) -> bool:
        """Whether both replace a common character; two insertions never do."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, order=True)
class Edit:
    """Replace the characters of `span` by `content`; an empty span inserts."""

    span: Span
    content: str


@dataclass(frozen=True)
class FileEdits:
    """Edits of another file than that of the finding; `path` is absolute."""

    path: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Fix:
    """Edits that belong together: all are made, or none."""

    message: str
    edits: tuple[Edit, ...]
    safety: Safety = Safety.SAFE
    begins: bool = False
    """Whether it is right together with the fixes alone that it calls for."""
    uncovers: bool = False
    """Whether the program ends at the mistake, so that what it does later shows after the fix."""
    is_meant: bool = False
    """Whether the code may be meant as it is, so that adoption keeps it."""
    elsewhere: tuple[FileEdits, ...] = ()
    """The edits of other files that belong to it, too."""


FAILS_HERE = "fails here"
"""What a finding says of the place that raises, where that comes after its own."""


@dataclass(frozen=True)
class Related:
    """A second place that explains a finding: where a value was created, or moved."""

    span: Span
    message: str


@dataclass(frozen=True)
class Elsewhere:
    """A place in another file that explains a finding; `line` counts from 1, `column` from 0."""

    path: str
    line: int
    column: int
    message: str
    cell: int | None = None
    """Of a notebook, whose lines are those of the cell."""

    @property
    def location(self) -> Location:
        """The place in its file."""
        return Location(self.line, self.column, self.cell)

    @property
    def where(self) -> str:
        """The file and the place in it."""
        return f"{self.path}:{self.location}"


@dataclass(frozen=True)
class Finding:
    """One mistake at one place, with its evidence and, where there is one, its fix."""

    code: str
    name: str
    severity: Severity
    message: str
    span: Span
    related: tuple[Related, ...] = ()
    machine: str = ""
    """On which machine it happens, such as "with an accelerator"; empty where on all."""
    certainty: Certainty = Certainty.CERTAIN
    fix: Fix | None = None
    elsewhere: tuple[Elsewhere, ...] = ()
    unfixed: str = ""
    """Why there is no fix."""

    @property
    def is_of_program(self) -> bool:
        """Whether it is a note about the program as a whole, rather than about its place."""
        return self.code == FOR_ACCELERATORS and self.severity is Severity.NOTE


class InputError(Exception):
    """A file that devicelint cannot work with, reported in one line.

    `line` counts from 1 and `column` from 0, as everywhere in devicelint; both are printed from 1.
    What concerns a whole file is reported at its beginning.
    """

    lasts = True
    """Whether it will be the same for as long as the file is."""

    def __init__(
        self, path: str, line: int, column: int, message: str, cell: int | None = None
    ) -> None:
        super().__init__(path, line, column, message)
        self.path = path
        self.line = line
        self.column = column
        self.message = message
        self.cell = cell

    def __str__(self) -> str:
        place = f"{self.path}:{Location(self.line, self.column, self.cell)}: {self.message}"
        return " ".join(place.splitlines())
