"""What a configuration says of names and functions that no source explains, for one check."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import libcst as cst

from devicelint.config import Config
from devicelint.config.assumptions import StubFile
from devicelint.interpreter.guesses.assumptions import Assumed
from devicelint.knowledge.own import OwnStubs, read
from devicelint.linter.result import Met
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile

__all__ = ["assumed_by", "met"]


def assumed_by(config: Config) -> Assumed | None:
    """What holds in a check; None where nothing is assumed."""
    if not (config.assume or config.stubs):
        return None
    return Assumed(config.assume, _stated(config.stubs))


@functools.lru_cache(maxsize=16)
def _stated(files: tuple[StubFile, ...]) -> OwnStubs:
    """What stub files state; where two speak of one name, the later one holds."""
    stated = OwnStubs()
    for file in files:
        stated |= read(file.text)
    return stated


def met(assumed: Assumed | None, source: SourceFile, tree: cst.Module) -> Iterable[Met]:
    """What the walks of a file have met: a name is known only where nothing is assumed of it."""
    if assumed is None:
        return
    known = {
        assumption: node
        for assumption, node in assumed.known.items()
        if assumption not in assumed.used
    }
    spans = locate(tree, source, known.values())
    for assumption in assumed.used:
        yield Met(assumption.key, assumption.place)
    for assumption, node in known.items():
        if node in spans:
            place = source.location(spans[node].start)
            yield Met(assumption.key, assumption.place, f"{source.path}:{place}")
