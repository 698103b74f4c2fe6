"""Who hears the steps of a walk, what is noted of them, and where an analysis is built."""

from collections.abc import Iterator

import libcst as cst
import pytest

from devicelint.domain.data_events import UnknownInput
from devicelint.domain.events import Event
from devicelint.domain.training_events import MadeApart
from devicelint.domain.values import HOST, NONE, Value
from devicelint.domain.worlds import WITH_ONE, World
from devicelint.interpreter import Program, explore
from devicelint.interpreter.analyses.path_joins import PathJoins
from devicelint.interpreter.analyses.unknown_inputs import UnknownInputs
from devicelint.interpreter.engine.budget import Budget
from devicelint.interpreter.engine.hooks import attend
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.engine.steps import Hearer, Notes, Steps
from devicelint.interpreter.suggestions.walk_notes import NamedMoves


class Assigned(Hearer):
    """Notes what is assigned."""

    def __init__(self) -> None:
        self.values: list[Value] = []

    def on_assigned(self, value: Value) -> None:
        self.values.append(value)

    def at_end(self) -> Iterator[Event]:
        yield from ()


class Others(Assigned):
    """Another one, which inherits what it hears."""


class Names(Notes):
    """Names that somebody remembers."""

    def __init__(self) -> None:
        self.names: set[str] = set()


def run_of(code: str = "") -> Run:
    program = Program(cst.parse_module(code), code)
    return Run(program, WITH_ONE, lambda event, run: None, budget=Budget.for_file(1), splits=False)


def test_a_step_is_heard_by_all_who_define_it():
    first, second, silent = Assigned(), Others(), Hearer()
    Steps((first, silent, second)).assigned(NONE)
    assert first.values == second.values == [NONE]


def test_a_step_that_one_hears_is_that_ones_method():
    only = Assigned()
    assert Steps((only, Hearer())).assigned == only.on_assigned


def test_a_step_that_nobody_hears_does_nothing():
    Steps((Hearer(),)).assigned(NONE)


def test_notes_begin_empty_and_stay():
    run = run_of()
    run.notes(Names).names.add("net")
    assert run.notes(Names).names == {"net"}


def test_what_is_noted_while_nothing_is_to_be_kept_is_forgotten():
    run, hearer = run_of(), Assigned()
    run.attend([hearer])
    run.notes(Names).names.add("net")
    with run.forgetting():
        run.steps.assigned(HOST)
        run.notes(Names).names.add("other")
        assert run.hearer(Assigned).values == [HOST]
        assert run.notes(Names).names == {"net", "other"}
    run.steps.assigned(NONE)
    assert hearer.values == [NONE]
    assert run.notes(Names).names == {"net"}


@pytest.mark.parametrize(
    ("wanted", "built"),
    [
        (None, {PathJoins, UnknownInputs, NamedMoves}),
        ({MadeApart.__name__}, {PathJoins, NamedMoves}),
        ({UnknownInput.__name__}, {UnknownInputs, NamedMoves}),
        ((), {NamedMoves}),
    ],
)
def test_an_analysis_is_built_where_its_events_are_wanted(wanted, built):
    run = run_of()
    attend(run, wanted)
    assert {PathJoins, UnknownInputs, NamedMoves} & {type(one) for one in run.hearers} == built


def test_what_an_analysis_concludes_is_announced_at_the_end():
    code = (
        "import torch\n"
        "import sys\n"
        "x = torch.randn(2, device='cuda')\n"
        "if len(sys.argv) > 1:\n"
        "    x = torch.zeros(2)\n"
    )
    heard: list[Event] = []

    def listener_for(world: World) -> Listener:
        return lambda event, run: heard.append(event)

    explore(Program(cst.parse_module(code), code), listener_for, wanted={MadeApart.__name__})
    assert [event for event in heard if isinstance(event, MadeApart)]
