"""The grammar: a strategy of Hypothesis that writes training-like programs which really run.

A program is a plan of features, drawn one after the other from the table in `registry`. Each is
a small function that uses the values in sight, and leaves others. Values are placed by a coin.
"""

from __future__ import annotations

import importlib
import pkgutil

from hypothesis import strategies as st

from benchmarks.differential.grammar import devices
from benchmarks.differential.grammar.registry import FEATURES, HEAD, write_one
from benchmarks.differential.program import Program
from benchmarks.differential.writer import BODY, Draw, Frame, Line, Writer

__all__ = ["FEATURES", "programs"]

for _found in pkgutil.iter_modules(__path__):
    # Features are found by being there.
    importlib.import_module(f"{__name__}.{_found.name}")

CARES = (100, 98, 96, 94, 92, 90, 86, 80)
"""How many of a hundred placements are right, in this program or that."""

SHORTEST = 13
"""The lines of a program, but for the empty ones."""


def programs() -> st.SearchStrategy[Program]:
    """Programs of 15 to 120 lines."""
    return _programs()


def written(draw: Draw) -> Program:
    """The program that these choices come to.

    `draw` is Hypothesis', or anything that gives the bytes of a strategy: a source of chance that
    gives `BLOCK` bytes at a time writes programs faster, and no two of them alike.
    """
    writer = Writer(draw)
    writer.begin()
    writer.care = writer.choose(CARES)
    form = writer.choose([_script, _main_reads_global, _main])
    return form(writer)


_programs = st.composite(written)


def _script(writer: Writer) -> Program:
    """All at the level of the module."""
    first, head = _global_head(writer)
    body = Frame(BODY, list(head.values))
    _body(writer, body)
    return writer.program(*first, head.lines, *_apart(writer.definitions), body.lines)


def _main_reads_global(writer: Writer) -> Program:
    """The device is a global, which `main` reads."""
    first, head = _global_head(writer)
    body = Frame(BODY, list(head.values), indent=1)
    _body(writer, body)
    definitions = _apart([*writer.definitions, [_DEF_MAIN, *body.lines]])
    return writer.program(*first, head.lines, *definitions, _CALL_MAIN)


def _main(writer: Writer) -> Program:
    """The device is chosen in `main`."""
    body = _head(writer, 1)
    _body(writer, body)
    definitions = _apart([*writer.definitions, [_DEF_MAIN, *body.lines]])
    return writer.program(*definitions, _CALL_MAIN)


_DEF_MAIN: Line = ("def main():", frozenset())
_CALL_MAIN: list[Line] = [
    ('if __name__ == "__main__":', frozenset()),
    ("    main()", frozenset()),
]


def _apart(definitions: list[list[Line]]) -> list[list[Line]]:
    blank: Line = ("", frozenset())
    return [[blank, *lines] for lines in definitions]


def _global_head(writer: Writer) -> tuple[list[list[Line]], Frame]:
    """The definitions that the head needs, and the head, whose values are global."""
    head = _head(writer, 0)
    first, writer.definitions = _apart(writer.definitions), []
    writer.globals = list(head.values)
    return first, head


def _head(writer: Writer, indent: int) -> Frame:
    writer.use("import torch")
    with writer.into(Frame(BODY, indent=indent)) as head:
        writer.line("torch.manual_seed(0)")
        write_one(writer, HEAD)
        if writer.sometimes(18):
            devices.second_device(writer)
    return head


def _body(writer: Writer, body: Frame) -> None:
    with writer.into(body):
        while _goes_on(writer):
            write_one(writer, begun=True)
        while writer.written < SHORTEST:
            _pad(writer)


def _goes_on(writer: Writer) -> bool:
    """Whether another feature follows: less and less."""
    writer.begin()
    if writer.full:
        return False
    written = writer.written
    percent = 98 if written < 12 else 92 if written < 30 else 80 if written < 50 else 65
    return writer.sometimes(percent)


def _pad(writer: Writer) -> None:
    """Lines without a tensor, and without a choice: what is short is short for a shrinker, too."""
    with writer.marked("padding"):
        name = writer.fresh("epochs")
        writer.lines(f"{name} = []", "for epoch in range(2):", f"    {name}.append(epoch)")
        writer.line(f"print({name})")
