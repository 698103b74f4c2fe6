"""What a configuration says of names and functions that no source explains, for one check."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import libcst as cst

from devicelint.config import Config
from devicelint.config.assumptions import StubFile
from devicelint.interpreter.engine.guesses import Guess
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.guesses.assumptions import Assumed
from devicelint.knowledge.own import OwnStubs, read
from devicelint.linter.result import Met
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile

__all__ = ["guesses_by", "met"]


def guesses_by(config: Config) -> tuple[Guess, ...]:
    """What a configuration lets stand in for the unknown, in one check."""
    if not (config.assume or config.stubs):
        return ()
    return (Assumed(config.assume, _stated(config.stubs)),)


@functools.lru_cache(maxsize=16)
def _stated(files: tuple[StubFile, ...]) -> OwnStubs:
    """What stub files state; where two speak of one name, the later one holds."""
    stated = OwnStubs()
    for file in files:
        stated |= read(file.text)
    return stated


def met(program: Program, source: SourceFile) -> Iterator[Met]:
    """What the walks of a file have met of what is assumed."""
    for guess in program.guesses:
        if isinstance(guess, Assumed):
            yield from _met(guess, source, program.tree)


def _met(assumed: Assumed, source: SourceFile, tree: cst.Module) -> Iterator[Met]:
    """A name is known only where nothing is assumed of it."""
    known = {key: node for key, node in assumed.known.items() if key not in assumed.used}
    spans = locate(tree, source, known.values())
    for assumption in assumed.used:
        yield Met(assumption.key, assumption.place)
    for assumption, node in known.items():
        if node in spans:
            place = source.location(spans[node].start)
            yield Met(assumption.key, assumption.place, f"{source.path}:{place}")
