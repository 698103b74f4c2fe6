"""The scripts of `examples/adopt/`: what adoption makes of each, and that it trains as before."""

from __future__ import annotations

from argparse import Namespace
from functools import cache
from pathlib import Path

import pytest

from devicelint.cli.run import proof
from devicelint.config import Config
from devicelint.linter import lint
from devicelint.linter.lint import Fixed
from devicelint.text.source import SourceFile

FOLDER = Path(__file__).parents[2] / "examples" / "adopt"
ON_GPU = "parameters on cuda:0"

NEEDS_GPU = {"language_model", "mixed_precision"}
"""What fails before adoption where there is no GPU."""

EXAMPLES = {
    "image_classifier",
    "text_rnn",
    "language_model",
    "gan",
    "vae",
    "dqn",
    "graph_network",
    "detection",
    "mixed_precision",
    "notebook",
}


def file_of(name: str, which: str) -> Path:
    (path,) = (FOLDER / name).glob(f"{which}.*")
    return path


def read(path: Path, name: str) -> SourceFile:
    return SourceFile.from_bytes(path.read_bytes(), name)


@cache
def adopted(name: str) -> Fixed:
    before = file_of(name, "before")
    return lint.adopt(read(before, str(before)))


def by_name(names: set[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", sorted(names))


def test_every_example_is_in_the_table() -> None:
    assert {path.name for path in FOLDER.iterdir()} == EXAMPLES
    table = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    assert [name for name in EXAMPLES if f"| [`{name}`](adopt/{name}) |" not in table] == []


@by_name(EXAMPLES)
def test_after_is_what_adoption_makes_of_before(name: str) -> None:
    made = adopted(name)
    assert made.after.to_bytes() == file_of(name, "after").read_bytes()
    assert made.remaining == ()


@by_name(EXAMPLES)
def test_nothing_is_found_after_it_and_nothing_more_is_adopted(name: str) -> None:
    after = read(file_of(name, "after"), "after")
    assert lint.check(after, Config()).findings == ()
    assert lint.adopt(after).after.text == after.text


@by_name(EXAMPLES)
def test_it_trains_on_what_there_is_and_comes_to_the_same_losses(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fixed = adopted(name)
    options = Namespace(prove_steps="3", prove_timeout=None, prove_args=None)
    found = proof.run(fixed, [fixed], options)
    told = [run["told"] for run in found["after"]]
    assert told == [f"3 steps, {where}" for where in ("parameters on the CPU", ON_GPU, ON_GPU)]
    where = ", on 1 virtual GPU" if name in NEEDS_GPU else ""
    assert found["losses"] == {"verdict": "unchanged", "told": f"losses unchanged (3 steps{where})"}
    assert [run["ending"] for run in found["before"]] == [
        "failed" if name in NEEDS_GPU else "passed",
        "passed",
        "passed",
    ]
    unreached = "no run reached the new code on "
    assert all(one.startswith(unreached) for one in found["problems"])
    assert len(found["problems"]) == bool(found["unreached_lines"])
