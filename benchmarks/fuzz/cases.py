"""One case after the other: what goes in, and what must not come out."""

from __future__ import annotations

import ast
import json
import random
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.fuzz.documents import notebook, page
from benchmarks.fuzz.programs import corpus, script
from benchmarks.fuzz.settings import settings, stubs, words

_SCRIPTS = corpus()
_WRITERS = ("--fix", "adopt", "clean", "--add-noqa", "--write-baseline", "--output-file")
_MADE = (".devicelint_cache", "made.json", "made.txt", "made.html", "missing/made.txt")


@dataclass(frozen=True)
class Case:
    """Files of a folder, and a command line in it."""

    words: list[str]
    files: Mapping[str, bytes]
    standard_input: bytes = b""

    @property
    def writes(self) -> bool:
        """Whether the command may change files."""
        return any(word.startswith(_WRITERS) for word in self.words)


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    status: object
    out: str
    error: str
    files: Mapping[str, bytes] = field(default_factory=dict)


def cli_case(number: int) -> Case:
    """The case of a number: a folder with anything in it, and anything said of it."""
    rng = random.Random(f"cli {number}")
    files = {"train.py": script(rng, _SCRIPTS)}
    for name, make, chance in (
        ("book.ipynb", notebook, 0.15),
        ("page.md", page, 0.15),
        ("sub/other.py", script, 0.15),
    ):
        if rng.random() < chance:
            files[name] = make(rng, _SCRIPTS)
    if rng.random() < 0.25:
        files["pyproject.toml"] = settings(rng)
        files["devicelint.pyi"] = stubs(rng)
        files["baseline.json"] = notebook(rng, _SCRIPTS)
    said = words(rng) if rng.random() < 0.5 else ["check", *rng.choice(_USUAL), "."]
    return Case(said, files, files["train.py"])


_USUAL: tuple[list[str], ...] = (
    [],
    [],
    ["--fix"],
    ["--fix", "--unsafe-fixes"],
    ["--diff"],
    ["--output-format", "json"],
)


def notebook_case(number: int) -> Case:
    """The same, of documents alone."""
    rng = random.Random(f"notebook {number}")
    make, name = (notebook, "book.ipynb") if rng.random() < 0.75 else (page, "page.md")
    said = rng.choice((["check"], ["check", "--fix", "--unsafe-fixes"], ["trace"], ["adopt"]))
    return Case([*said, name], {name: make(rng, _SCRIPTS)})


def cache_case(number: int) -> Case:
    """A check of a folder, whose cache is damaged before it is checked again."""
    rng = random.Random(f"cache {number}")
    files = {f"module_{n}.py": script(rng, _SCRIPTS) for n in range(rng.randrange(1, 4))}
    files["sound.py"] = rng.choice(_SCRIPTS)
    return Case(["check", "--output-format", "concise", "."], files)


def faults(case: Case, outcome: Outcome) -> list[str]:
    """What is wrong with an outcome; nothing where all is well."""
    told = outcome.out + outcome.error
    found = []
    if outcome.status not in (0, 1, 2):
        found.append(f"exit status {outcome.status}")
    for word in ("Traceback (most", "internal-error"):
        lines = [line for line in told.splitlines() if word in line]
        found += lines[:1]
    for name in sorted(outcome.files.keys() - case.files.keys()):
        if not name.startswith(_MADE) and name not in case.words:
            found.append(f"{name} was left behind")
    for name, before in case.files.items():
        after = outcome.files.get(name)
        if after is None:
            found.append(f"{name} is gone")
        elif after != before:
            found += _half_written(case, name, before, after)
    return found


def _half_written(case: Case, name: str, before: bytes, after: bytes) -> list[str]:
    if not case.writes:
        return [f"{name} was changed"]
    if Path(name).suffix in (".py", ".ipynb") and _is_sound(name, before):
        return [] if _is_sound(name, after) else [f"{name} is no longer what it was"]
    return []


def _is_sound(name: str, data: bytes) -> bool:
    """Whether Python or a reader of notebooks understands a file."""
    try:
        if name.endswith(".ipynb"):
            json.loads(data)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(data)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return True
