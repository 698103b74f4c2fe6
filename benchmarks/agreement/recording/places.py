"""Where the expressions stand that are noted: each has a number in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Span(NamedTuple):
    """A part of a text; lines count from 1, columns from 0, in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass
class Places:
    """The expressions and functions of all files that were compiled, by their numbers."""

    spans: list[Span] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    """What each expression is, by the name of its class in `ast`."""
    file_of: list[int] = field(default_factory=list)
    """The file of each expression."""
    files: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """The files that run as they are, since their expressions cannot be noted."""
    functions: list[tuple[int, int, str]] = field(default_factory=list)
    """Of each function its file, its line and its name."""

    def add_file(self, path: str) -> int:
        """The number of a file."""
        self.files.append(path)
        return len(self.files) - 1

    def add(self, file: int, span: Span, kind: str) -> int:
        """The number of an expression."""
        self.spans.append(span)
        self.kinds.append(kind)
        self.file_of.append(file)
        return len(self.spans) - 1

    def add_function(self, file: int, line: int, name: str) -> int:
        """The number of a function."""
        self.functions.append((file, line, name))
        return len(self.functions) - 1
