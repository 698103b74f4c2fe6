"""A generated program: its text, and which parts of the grammar wrote each line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A program that runs as `__main__`.

    Attributes:
        text: its source, of 15 to 120 lines.
        marks: of each line, the features of the grammar that wrote it.
    """

    text: str
    marks: tuple[frozenset[str], ...]

    @property
    def features(self) -> frozenset[str]:
        """All features that wrote a line."""
        return frozenset().union(*self.marks)

    def at(self, line: int) -> frozenset[str]:
        """The features that wrote this line, counted from 1."""
        return self.marks[line - 1]
