"""The data that scripts want, made small: that of pytorch/examples, and such for any folder."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from benchmarks.pytorch_examples.inputs import MAKERS, digits, papers

WORDS = 40
"""How many words a made text has."""


def _mnist(folder: Path) -> None:
    digits(folder)


def _fashion(folder: Path) -> None:
    digits(folder, "FashionMNIST")


def _text(folder: Path) -> None:
    """A corpus of three files."""
    numbers = random.Random(5)
    folder.mkdir(parents=True, exist_ok=True)
    for part, lines in (("train", 120), ("valid", 30), ("test", 30)):
        sentences = (
            " ".join(f"w{numbers.randrange(WORDS)}" for _ in range(10)) for _ in range(lines)
        )
        (folder / f"{part}.txt").write_text("\n".join(sentences) + "\n")


def _folder(folder: Path) -> None:
    """A folder to write to, that a script does not make."""
    folder.mkdir(parents=True, exist_ok=True)


ANYWHERE: dict[str, Callable[[Path], None]] = {
    "mnist": _mnist,
    "fashion": _fashion,
    "text": _text,
    "cora": papers,
    "folder": _folder,
}


def is_known(name: str) -> bool:
    """Whether something makes this: a name of `MAKERS`, or `KIND:FOLDER` of `ANYWHERE`."""
    kind, colon, _folder_name = name.partition(":")
    return kind in ANYWHERE if colon else name in MAKERS


def make(name: str, folder: Path) -> None:
    """Make data for a script that is run in a folder: where `KIND:FOLDER` says, below that."""
    kind, colon, where = name.partition(":")
    if colon:
        ANYWHERE[kind](folder / where)
    else:
        MAKERS[name](folder.parent, folder)
