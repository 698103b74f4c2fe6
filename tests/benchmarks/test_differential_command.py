"""The command that judges by generated programs: its tables, planted mistakes, reduced cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.differential.__main__ import main
from benchmarks.differential.cases import case, reduced
from benchmarks.differential.generating import programs_of
from benchmarks.differential.holes import Hole, holes_of
from benchmarks.differential.linting import Linter
from benchmarks.differential.mistakes import MISTAKES
from benchmarks.differential.planted import discoveries
from benchmarks.differential.planting import held, planted
from benchmarks.differential.trial import Trial, trial
from tests.benchmarks.differential_programs import CHOSEN, MIXES, program


@pytest.fixture(scope="module")
def one() -> Iterator[Trial]:
    with trial() as made:
        yield made


def test_the_last_line_says_it_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    assert main(["--seed", "2", "--programs", "10", "--json", str(figures)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    found = json.loads(figures.read_text())
    assert found["programs"] == 10
    assert last == (
        f"misses {found['missed']} of {found['raising']} raising, "
        f"false alarms {found['alarmed']} of {found['passing']} passing"
    )


@pytest.mark.parametrize("given", [["--programs", "-1"], ["--seed", "x"], ["--minutes", "long"]])
def test_bad_input_is_one_message(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(given)
    assert left.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("python -m benchmarks.differential:")


def test_a_planted_mistake_is_found() -> None:
    (mistake,) = (each for each in MISTAKES if "0-dim tensors, inverted" in each.name)
    (found,) = discoveries(1, 50, [mistake])
    assert found.after is not None
    assert found.by


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_nothing_is_left_of_a_planted_mistake(mistake: object) -> None:
    before = held()
    with planted(mistake.plant):  # type: ignore[attr-defined]
        assert held() != before
    assert held() == before


def test_after_planted_mistakes_the_linter_says_what_it_said() -> None:
    linter = Linter("program.py")
    some = list(islice(programs_of(1), 5))
    before = [linter.of(each) for each in some]
    for mistake in MISTAKES:
        with planted(mistake.plant):
            linter.of(some[0])
    assert [Linter("program.py").of(each) for each in some] == before


def test_a_reduced_program_keeps_its_hole(one: Trial) -> None:
    given = program(
        "import torch",
        CHOSEN,
        "def spare(x):",
        "    return x * 2",
        "parts = []",
        "for number in range(3):",
        "    if number > 1:",
        "        parts.append(torch.ones(3) + number)",
        "for part in reversed(parts):",
        "    with torch.no_grad():",
        "        kept = spare(part.unsqueeze(0).squeeze(0))",
        "unused = torch.zeros(3)",
        "z = torch.ones(3, device=device) + eval('kept')",
        "print(unused)",
    )
    (verdict,) = one.verdicts([given])
    hole = Hole("miss", "operator in arithmetic", "by-hand")
    assert hole in holes_of(verdict)
    smaller = reduced(one, given, hole)
    assert hole in holes_of(smaller)
    assert len(smaller.program.marks) == len(smaller.program.text.splitlines()) <= 10


def test_a_case_says_what_ran_and_what_was_said(one: Trial) -> None:
    (verdict,) = one.verdicts([MIXES])
    text = case(verdict, "an example")
    compile(text, "case.py", "exec")
    assert "# with 0 GPUs: ran through" in text
    assert "# with 1 GPUs: line 5: Expected all tensors to be on the same device" in text
    assert "# line 3: created-on-cpu (refutable; GPUs: 1, 2)" in text
