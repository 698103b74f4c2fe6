"""What all files have in common that hold Python among other things."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from devicelint.finding import Edit, InputError, Location


class Unwritable(Exception):
    """A changed text has no way back into its file; the message says why."""


class Document(ABC):
    """The Python of a file as one text that is shown and edited, and the way back."""

    @property
    @abstractmethod
    def text(self) -> str:
        """What is shown, and edited."""

    @property
    @abstractmethod
    def programs(self) -> tuple[str, ...]:
        """What is parsed, each with a namespace of its own.

        Each is as long as `text`, and has its line ends where `text` has them: places in the one
        are places in the other.
        """

    @property
    @abstractmethod
    def code(self) -> str:
        """All programs in one text, for whoever looks for comments and not for names."""

    @property
    @abstractmethod
    def opening(self) -> str:
        """Where a comment may stand that speaks of the whole file."""

    @property
    @abstractmethod
    def notes(self) -> tuple[InputError, ...]:
        """What is passed over, and why."""

    @abstractmethod
    def location(self, line: int, column: int) -> Location:
        """What people call a place of `text`."""

    @abstractmethod
    def label(self, line: int) -> str | None:
        """What a line of `text` is called in a margin; None for one that nobody wrote."""

    @property
    def needs_accelerator(self) -> bool:
        """Whether the file itself says that it is for machines with an accelerator."""
        return False

    def cell_texts(self) -> dict[int, str] | None:
        """What each cell says, by its number; None for a file without cells."""
        return None

    def line(self, cell: int, line: int) -> int | None:  # noqa: ARG002 - a notebook has them
        """The line of `text` that a line of a cell is; None where there is none."""
        return None

    def place(self, offset: int) -> int:
        """Where a place of `text` lies in the text of the file."""
        return offset

    def fitted(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """Edits of what is parsed as edits of `text`; raises Unwritable where there are none."""
        return tuple(edits)

    def rewritten(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """What edits of `text` are in the text of the file.

        Raises Unwritable where these change anything but Python.
        """
        return tuple(sorted(edits, key=lambda edit: edit.span))

    @abstractmethod
    def with_text(self, text: str) -> Document:
        """The document after edits of its text.

        Raises Unwritable where these changed anything but Python.
        """

    @abstractmethod
    def to_text(self) -> str:
        """The text of the file."""
