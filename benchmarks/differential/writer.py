"""Writes a program line by line, and takes its choices from Hypothesis.

Choices come in small blocks of bytes: an integer drawn for each would cost more than all else.
A feature begins a block of its own, so that a shrinker takes features out whole. The first of all
options, and a byte of 0, is always the plainest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

from benchmarks.differential.program import Program
from benchmarks.differential.values import Handle, Value, without_graph

T = TypeVar("T")
V = TypeVar("V")

Draw = Callable[[st.SearchStrategy[bytes]], bytes]
Line = tuple[str, frozenset[str]]

BODY: Final = "body"
"""The main flow of the program."""
FUNCTION: Final = "function"
"""Inside of a function or method."""

FULL = 76
"""From so many lines on, nothing is begun."""

_PARAMETERS: Final = (
    "values",
    "args",
    "output",
    "module",
    "row",
    "inputs",
    "labels",
    "batch",
    "loss",
    "given",
    "step",
    "layer",
    "key",
    "branch",
    "i",
    "seq",
)
"""What functions call their parameters, and loops their variables; nothing else is called so."""

BLOCK: Final = 51
"""The bytes of a block of choices.

Hypothesis puts bytes that it has read in the code around into one of twenty draws, and never
more than fifty: with shorter blocks, what a seed gives would hang on what else is imported.
"""

_BLOCK: Final = st.binary(min_size=BLOCK, max_size=BLOCK)


@dataclass
class Frame:
    """What is being written: the lines of a body, and the values in its sight."""

    place: str
    values: list[Value] = field(default_factory=list)
    indent: int = 0
    lines: list[Line] = field(default_factory=list)
    ended: bool = False


class Writer:
    """A program in the making.

    Attributes:
        frame: where lines go, and what they can use.
        care: how many of a hundred placements are right.
        globals: the values that functions see.
        definitions: the functions and classes, in order.
        traits: what the program has settled, such as its way to spell a move.
    """

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._bytes: Iterator[int] = iter(())
        self._names = dict.fromkeys(_PARAMETERS, 1)
        self._marks: list[str] = []
        self._noted: set[str] = set()
        self._imports: dict[str, frozenset[str]] = {}
        self._written = 0
        self._depth = 0
        self.care = 100
        self.globals: list[Value] = []
        self.definitions: list[list[Line]] = []
        self.traits: dict[str, Any] = {}
        self.frame = Frame(BODY)

    # Chance

    def begin(self) -> None:
        """Begin a new block of choices."""
        self._bytes = iter(self._draw(_BLOCK))

    def byte(self) -> int:
        """A number below 256."""
        for number in self._bytes:
            return number
        self.begin()
        return next(self._bytes)

    def choose(self, options: Sequence[T]) -> T:
        """One of at most 256 options; the first is the plainest."""
        return options[self.byte() * len(options) >> 8]

    def weighted(self, options: Sequence[T], weights: Sequence[int]) -> T:
        """One of the options, by their weights."""
        at = (self.byte() * 256 + self.byte()) * sum(weights) >> 16
        for option, weight in zip(options, weights, strict=True):
            at -= weight
            if at < 0:
                return option
        raise AssertionError("the weights are those of the options")

    def likely(self, percent: int) -> bool:
        """True so often, and where a shrinker has its way."""
        return self.byte() * 100 < percent << 8

    def sometimes(self, percent: int) -> bool:
        """True so often, and False where a shrinker has its way."""
        return not self.likely(100 - percent)

    def number(self, low: int, high: int) -> int:
        """A number from low to high."""
        return low + (self.byte() * (high - low + 1) >> 8)

    def careful(self) -> bool:
        """Whether a value is placed as it should be."""
        return self.likely(self.care)

    # Lines

    @property
    def written(self) -> int:
        """How many lines there are, but for those between them."""
        return self._written + len(self._imports)

    @property
    def full(self) -> bool:
        """Whether nothing more should be begun."""
        return self.written + 2 * len(self.definitions) >= FULL

    @property
    def depth(self) -> int:
        """In how many features of the grammar this one lies."""
        return self._depth

    def line(self, text: str) -> None:
        """Write a line."""
        marks = frozenset(self._marks) | self._noted
        self.frame.lines.append(("    " * self.frame.indent + text, marks))
        self._noted.clear()
        self._written += 1

    def lines(self, *texts: str) -> None:
        """Write lines."""
        for text in texts:
            self.line(text)

    def use(self, statement: str) -> None:
        """Import what is needed."""
        self._imports.setdefault(statement, frozenset(self._marks))

    def fresh(self, stem: str) -> str:
        """A name that is not taken yet."""
        count = self._names[stem] = self._names.get(stem, 0) + 1
        return stem if count == 1 else f"{stem}{count}"

    def reserve(self, name: str) -> None:
        """Let nothing that is new be called so."""
        self._names.setdefault(name, 1)

    @contextmanager
    def marked(self, *names: str) -> Iterator[None]:
        """Mark the lines that are written meanwhile."""
        self._marks.extend(names)
        try:
            yield
        finally:
            del self._marks[len(self._marks) - len(names) :]

    def note(self, name: str) -> None:
        """Mark the line that is written next."""
        self._noted.add(name)

    @contextmanager
    def feature(self, name: str) -> Iterator[None]:
        """A feature of the grammar, or of one inside of another."""
        self._depth += 1
        with self.marked(name):
            yield
        self._depth -= 1

    @contextmanager
    def block(self, header: str, *, own_graph: bool = False) -> Iterator[None]:
        """Write an indented block; what it makes is not seen after it."""
        frame = self.frame
        self.line(header)
        if own_graph:
            self.end_graph()
        before, lines, ended = list(frame.values), len(frame.lines), frame.ended
        frame.indent, frame.ended = frame.indent + 1, False
        yield
        if len(frame.lines) == lines:
            self.line("pass")
        frame.values[:] = filter(without_graph, before) if frame.ended else before
        frame.indent, frame.ended = frame.indent - 1, frame.ended or ended

    @contextmanager
    def into(self, frame: Frame) -> Iterator[Frame]:
        """Write there instead."""
        before, self.frame = self.frame, frame
        yield frame
        self.frame = before

    @contextmanager
    def as_function(self) -> Iterator[None]:
        """Write nothing meanwhile that trains, or belongs into the main flow alone."""
        frame = self.frame
        before, frame.place = frame.place, FUNCTION
        yield
        frame.place = before

    @contextmanager
    def definition(self, *values: Value) -> Iterator[Frame]:
        """Write a definition of the module, which sees its globals and these values."""
        with self.into(Frame(FUNCTION, [*self.globals, *values])) as frame:
            yield frame
        self.definitions.append(frame.lines)

    # Values

    def keep(self, value: V) -> V:
        """Let the lines that follow use a value."""
        self.frame.values.append(value)  # type: ignore[arg-type]
        return value

    def drop(self, value: Value) -> None:
        """Let nothing use a value any more."""
        if value in self.frame.values:
            self.frame.values.remove(value)

    def values(self, kind: type[V]) -> list[V]:
        """The values of a kind in sight, the latest first."""
        return [value for value in reversed(self.frame.values) if isinstance(value, kind)]

    def handles(self, side: str) -> list[str]:
        """The expressions in sight that name this device."""
        return [handle.text for handle in self.values(Handle) if handle.side == side]

    def end_graph(self) -> None:
        """Let go of what has been differentiated, or is to be in another round."""
        self.frame.values[:] = filter(without_graph, self.frame.values)
        self.frame.ended = True

    def program(self, *sections: list[Line]) -> Program:
        """The whole: the imports, and these sections below each other."""
        imports = [(text, marks) for text, marks in sorted(self._imports.items(), key=_order)]
        blank: Line = ("", frozenset())
        lines = list(imports)
        for section in sections:
            if section:
                lines += [blank, *section]
        return Program(
            "".join(f"{text}\n" for text, _ in lines), tuple(marks for _, marks in lines)
        )


def _order(item: tuple[str, frozenset[str]]) -> tuple[bool, bool, str]:
    statement = item[0]
    ours = "torch" in statement or "numpy" in statement
    return ours, statement.startswith("from"), statement
