"""Files for readers who look for mistakes themselves, before they see what was found."""

from __future__ import annotations

import ast
import random
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path, PurePosixPath

from benchmarks.checkouts import Checkout

SHORTEST, LONGEST = 40, 1500
"""In lines: less has nothing to misplace, more is not read with care."""


@dataclass(frozen=True)
class Sampled:
    """A file that a reader reads before the findings are shown."""

    repo: str
    file: str
    lines: int
    seed: int


def sample(
    checkouts: Sequence[Checkout], seed: int, count: int, vendored: Collection[str] = ()
) -> list[Sampled]:
    """So many training scripts and modules, one of each repository in turn, drawn by chance.

    Args:
        checkouts: the repositories, in the order in which they take turns.
        seed: what the choice hangs on, besides the files.
        count: how many; fewer where there are no more.
        vendored: the folders, as `OWNER/NAME/FOLDER`, that are copies of other projects.
    """
    chance = random.Random(seed)
    drawn = []
    for checkout in checkouts:
        able = [each for each in _able(checkout, seed) if not _is_below(each, vendored)]
        drawn.append(chance.sample(able, min(count, len(able))))
    in_turn = (each for each in chain.from_iterable(zip_longest(*drawn)) if each)
    return [each for _, each in zip(range(count), in_turn, strict=False)]


def _is_below(each: Sampled, folders: Collection[str]) -> bool:
    path = PurePosixPath(each.repo, each.file)
    return any(path.is_relative_to(folder) for folder in folders)


def _able(checkout: Checkout, seed: int) -> Iterator[Sampled]:
    """The files of a repository that train, or define modules, outside of its tests."""
    for path in checkout.files():
        name = checkout.relative(path)
        text = path.read_bytes()
        lines = text.count(b"\n")
        if SHORTEST <= lines <= LONGEST and not _is_test(name) and _trains(path, text):
            yield Sampled(checkout.name, name, lines, seed)


def _is_test(name: str) -> bool:
    path = PurePosixPath(name)
    folders = {part.lower() for part in path.parts[:-1]}
    return path.name.startswith("test_") or bool(folders & {"test", "tests", "testing"})


def _trains(path: Path, text: bytes) -> bool:
    """Whether a file imports torch, and goes backward, has a training step or a forward."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text, path.name)
        except (SyntaxError, ValueError):
            return False
    nodes = list(ast.walk(tree))
    return any(map(_imports_torch, nodes)) and any(map(_is_training, nodes))


def _imports_torch(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] == "torch" for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch"


def _is_training(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name in ("forward", "training_step")
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "backward"
