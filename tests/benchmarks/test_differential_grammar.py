"""The grammar of generated programs: each of its features is reached, and what it writes runs."""

import ast
import random
import subprocess
import sys
from itertools import islice

import pytest
from hypothesis import HealthCheck, Phase, find, settings

from benchmarks.differential.grammar import FEATURES, programs, written
from benchmarks.differential.grammar.known import elementwise, operations
from benchmarks.differential.program import Program
from benchmarks.differential.writer import BLOCK

MANY = 1500


class Chance:
    """Gives the bytes that Hypothesis would."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def __call__(self, strategy):
        return self._random.randbytes(BLOCK)


def some():
    number = 0
    while True:
        yield written(Chance(f"grammar {number}"))
        number += 1


@pytest.fixture(scope="module")
def many():
    return list(islice(some(), MANY))


def test_every_feature_is_reached(many):
    reached = frozenset().union(*(program.features for program in many))
    assert not set(FEATURES) - reached


def test_a_program_has_15_to_120_lines_each_with_its_marks(many):
    for program in many:
        lines = program.text.splitlines()
        assert 15 <= len(lines) <= 120, program.text
        assert len(program.marks) == len(lines)


def test_programs_compile(many):
    for program in many[:300]:
        compile(program.text, "program.py", "exec")


def test_the_same_choices_give_the_same_program():
    assert written(Chance(7)) == written(Chance(7))
    assert written(Chance(7)) != written(Chance(8))


def test_a_line_is_marked_by_the_features_around_it(many):
    inner = next(
        marks
        for program in many
        for line, marks in zip(program.text.splitlines(), program.marks, strict=True)
        if "nn.ModuleList(" in line
    )
    assert {"module-class", "part-module-list"} <= inner


def test_what_is_used_is_imported(many):
    for program in many[:200]:
        tree = ast.parse(program.text)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for name, module in (("F", "torch.nn.functional"), ("nn", "torch.nn"), ("np", "numpy")):
            assert name not in names or f"import {module} as {name}" in program.text


def test_programs_run_through_on_the_cpu(many, tmp_path):
    """All in one process of its own; those that say `cuda` and never ask are left out."""
    chosen = [p for p in many[:40] if "device-hard-coded" not in p.features]
    runner = (
        "import pathlib, runpy, sys, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "for name in sorted(pathlib.Path().glob('*.py')):\n"
        "    try:\n"
        "        runpy.run_path(str(name), run_name='__main__')\n"
        "    except Exception as error:\n"
        "        print('FAILED', name, repr(error))\n"
    )
    for number, program in enumerate(chosen):
        (tmp_path / f"program_{number:03}.py").write_text(program.text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", runner], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert len(failed) * 20 < len(chosen), failed


def test_hypothesis_draws_and_shrinks_programs():
    def has_a_gather(program: Program) -> bool:
        return "gather" in program.features

    quiet = settings(
        max_examples=2000,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    found = find(programs(), has_a_gather, settings=quiet)
    assert found.text.count("\n") <= 24, found.text
    assert len(found.features) <= 6, found.text


@pytest.mark.parametrize("operands", [1, 2, 3])
def test_operations_come_from_the_knowledge(operands):
    names = {operation.name for operation in operations(operands)}
    assert names >= {1: {"sin", "relu"}, 2: {"add", "mse_loss"}, 3: {"addcmul"}}[operands]
    assert all(operation.in_place for operation in elementwise(operands))
