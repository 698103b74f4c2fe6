"""The judge of generated programs: what counts as a miss and as a false alarm."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from benchmarks.differential.claims import Claim, rules_apart
from benchmarks.differential.generating import programs_of
from benchmarks.differential.judging import Verdict, judged
from benchmarks.differential.program import Program
from benchmarks.differential.regions import CAUGHT, REACHED, TESTED, watched
from benchmarks.differential.tally import Tally
from benchmarks.differential.trial import Trial, trial
from devicelint.domain.worlds import WITH_ONE, WITH_SEVERAL, WITHOUT
from devicelint.finding import Certainty
from devicelint.rule_index import RULES
from tests.benchmarks.differential_programs import (
    CATCHES,
    CHOSEN,
    FAILS,
    MIXES,
    NEEDS_TWO,
    RUNS,
    claim,
    program,
)

ALL = (MIXES, RUNS, NEEDS_TWO, FAILS, CATCHES)


@pytest.fixture(scope="module")
def one() -> Iterator[Trial]:
    with trial() as made:
        yield made


def verdict_of(one: Trial, given: Program, *claims: Claim) -> Verdict:
    (ran,) = one.ran([given])
    return judged(given, ran.code, ran.runs, claims)


# -- what a run shows -----------------------------------------------------------------------------


def test_each_machine_has_its_ending(one: Trial) -> None:
    endings = [[run.ending for run in ran.runs] for ran in one.ran(ALL)]
    assert endings == [
        ["passed", "device error", "device error"],
        ["passed", "passed", "passed"],
        ["device error", "device error", "passed"],
        ["other error", "other error", "other error"],
        ["passed", "passed", "passed"],
    ]


def test_a_device_error_knows_its_lines_and_where_the_operands_were_made(one: Trial) -> None:
    (ran,) = one.ran([MIXES])
    error = ran.runs[1].error
    assert error is not None
    assert (error.kind, error.operation, error.trace) == ("operator", "add", (5,))
    assert error.culprits == {3, 4}


def test_a_culprit_is_also_what_was_to_move_it_and_its_caller_who_asked_for_it(one: Trial) -> None:
    given = program(
        "import torch",
        CHOSEN,
        "def make():",
        "    return torch.ones(3)",
        "x = make()",
        "x.to(device)",
        "x + torch.ones(3, device=device)",
    )
    (ran,) = one.ran([given])
    error = ran.runs[1].error
    assert error is not None
    assert error.culprits == {4, 6, 7}
    assert error.callers == {5}


def test_what_a_program_changes_of_torch_is_gone_after_it(one: Trial) -> None:
    given = program(
        "import torch, random",
        "torch.set_default_dtype(torch.float64)",
        'torch.set_default_device("cpu")',
        "torch.set_grad_enabled(False)",
        "torch.nn.modules.module.register_module_forward_hook(lambda *_: None)",
        'open("left", "w").close()',
        "1 / 0",
    )
    asks = program(
        "import os, torch",
        "assert torch.get_default_dtype() == torch.float32",
        "assert torch.is_grad_enabled()",
        "assert not torch.nn.modules.module._global_forward_hooks",
        "assert not os.listdir()",
    )
    first, second = one.ran([given, asks])
    assert {run.said for run in first.runs} == {"line 7: ZeroDivisionError: division by zero"}
    assert {run.ending for run in second.runs} == {"passed"}
    assert nn.Linear(1, 1).weight.dtype == torch.float32


def test_parts_that_may_be_passed_over_are_told_apart() -> None:
    text = "f = lambda x: x and 1\ny = 2 if f(0) else [z for z in ()]\ndef g():\n    return 3\n"
    code = watched(text, "text.py")
    reached: set[int] = set()
    tested: list[tuple[int, object]] = []

    def test(number: int, value: object) -> bool:
        tested.append((number, value))
        return bool(value)

    exec(code.code, {REACHED: reached.add, CAUGHT: lambda: None, TESTED: test})
    ran = {part: code.was_reached(text.index(part), reached) for part in ("x and", "1\n", "2 if")}
    assert ran == {"x and": True, "1\n": False, "2 if": False}
    assert code.was_reached(text.index("[z"), reached)
    assert not code.was_reached(text.index("z for"), reached)
    assert not code.was_reached(text.index("return"), reached)
    assert [(code.conditions[number], value) for number, value in tested] == [("f(0)", 0)]


def test_torch_is_put_back_where_its_flags_may_not_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    # So they are once `torch.testing._internal.common_utils` has been imported in this process.
    monkeypatch.setattr(torch.backends, "__allow_nonbracketed_mutation_flag", False)
    before = Path.cwd()
    with trial() as one:
        verdict = verdict_of(one, program("import torch", "torch.backends.cudnn.benchmark = True"))
    assert [run.ending for run in verdict.runs] == ["passed"] * 3
    assert not torch.backends.cudnn.benchmark
    assert Path.cwd() == before


def test_a_text_that_is_no_program_fails_on_each_machine(one: Trial) -> None:
    verdict = verdict_of(one, program("import torch", "try:", "    x = 1"))
    assert [run.ending for run in verdict.runs] == ["other error"] * 3
    assert "SyntaxError" in verdict.runs[0].said


# -- misses ---------------------------------------------------------------------------------------


def test_an_error_without_a_finding_is_a_miss_on_each_machine(one: Trial) -> None:
    verdict = verdict_of(one, MIXES)
    assert [miss.gpus for miss in verdict.misses] == [1, 2]


@pytest.mark.parametrize(("place", "role"), [("x + y", "raises"), ("torch.ones(3)\n", "cause")])
def test_a_finding_at_the_error_or_its_culprit_is_a_hit(one: Trial, place: str, role: str) -> None:
    verdict = verdict_of(one, MIXES, claim(MIXES, place))
    assert [hit.role for hit in verdict.hits] == [role, role]
    assert not verdict.misses
    assert not verdict.alarms


def test_a_finding_that_leads_to_the_error_is_a_hit(one: Trial) -> None:
    leading = claim(MIXES, "import", related=(("x + y", "fails here"),))
    assert not verdict_of(one, MIXES, leading).misses


def test_a_finding_elsewhere_is_no_hit(one: Trial) -> None:
    verdict = verdict_of(one, MIXES, claim(MIXES, CHOSEN))
    assert len(verdict.misses) == 2
    assert {alarm.kind for alarm in verdict.alarms} == {"on lines that ran"}


def test_a_finding_of_another_machine_is_no_hit(one: Trial) -> None:
    several = claim(MIXES, "x + y", worlds=(WITH_SEVERAL,))
    assert [miss.gpus for miss in verdict_of(one, MIXES, several).misses] == [1]
    one_alone = claim(MIXES, "x + y", walked=(WITH_ONE, WITH_SEVERAL, WITHOUT))
    assert [miss.gpus for miss in verdict_of(one, MIXES, one_alone).misses] == [2]
    everywhere = claim(MIXES, "x + y", machine="")
    assert not verdict_of(one, MIXES, everywhere).misses


def test_a_program_that_runs_on_two_gpus_alone(one: Trial) -> None:
    verdict = verdict_of(one, NEEDS_TWO, claim(NEEDS_TWO, "torch.ones"))
    assert [miss.gpus for miss in verdict.misses] == [0]
    assert [hit.gpus for hit in verdict.hits] == [1]
    assert [alarm.gpus for alarm in verdict.false_alarms] == [2]


def test_another_error_says_nothing_of_the_linter(one: Trial) -> None:
    verdict = verdict_of(one, FAILS, claim(FAILS, "torch.ones"))
    assert (verdict.misses, verdict.hits, verdict.alarms) == ((), (), ())
    assert verdict.failed_otherwise


# -- false alarms ---------------------------------------------------------------------------------


def test_a_finding_on_a_line_that_ran_is_a_false_alarm_on_each_machine_it_names(one: Trial) -> None:
    verdict = verdict_of(one, RUNS, claim(RUNS, "x + y"))
    assert [alarm.gpus for alarm in verdict.false_alarms] == [1, 2]


def test_a_finding_in_what_did_not_run_is_none(one: Trial) -> None:
    assert not verdict_of(one, RUNS, claim(RUNS, "x.cpu() + x")).alarms
    leading = claim(RUNS, "x = torch", related=(("x.cpu() + x", "fails here"),))
    assert not verdict_of(one, RUNS, leading).alarms


def test_a_finding_on_an_error_that_was_caught_is_none(one: Trial) -> None:
    assert not verdict_of(one, CATCHES, claim(CATCHES, "x + torch.ones(3)")).alarms


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("by contract", {"certainty": Certainty.CONTRACT}),
        ("by belief", {"certainty": Certainty.BELIEF}),
        ("apart", {"name": "device-unused"}),
        ("condition unknown", {"message": "two devices (unless `args.device` is the CPU)"}),
        ("condition unknown", {"worlds": (WITH_ONE.choosing("args.cuda", True),)}),
    ],
)
def test_what_a_run_does_not_refute_is_counted_apart(
    one: Trial, kind: str, given: dict[str, Any]
) -> None:
    alarms = verdict_of(one, RUNS, claim(RUNS, "x + y", **given)).alarms
    assert [alarm.kind for alarm in alarms] == [kind, kind]


@pytest.mark.parametrize(
    "says",
    [
        "two devices (unless `args.device` is the CPU)",
        "`x` is elsewhere, unless `args.device` is the CPU: move it",
        "`x` draws on `args.device` (unless that is the CPU)",
    ],
)
@pytest.mark.parametrize(("default", "kinds"), [("cpu", []), ("cuda", ["false alarm"] * 2)])
def test_a_condition_is_held_against_what_argparse_gave(
    one: Trial, default: str, kinds: list[str], says: str
) -> None:
    given = program(
        "import argparse",
        "parser = argparse.ArgumentParser()",
        f'parser.add_argument("--device", default="{default}")',
        "args = parser.parse_args()",
        "x = 1",
    )
    told = claim(given, "x = 1", message=says)
    assert [alarm.kind for alarm in verdict_of(one, given, told).alarms] == kinds


@pytest.mark.parametrize(("chosen", "kinds"), [(True, []), (False, ["false alarm"] * 2)])
def test_a_condition_of_the_program_is_held_against_what_it_came_to(
    one: Trial, chosen: bool, kinds: list[str]
) -> None:
    given = program(
        "import torch",
        CHOSEN,
        "x = torch.ones(3, device=device)",
        "if not x.is_cuda and device.type == 'cuda':",
        "    x = x.to(device)",
        "y = x + 1",
    )
    worlds = (WITH_ONE.choosing("x.is_cuda", not chosen),)
    alarms = verdict_of(one, given, claim(given, "x + 1", worlds=worlds)).alarms
    assert [alarm.kind for alarm in alarms] == kinds


def test_a_string_that_named_an_accelerator_is_the_culprit_where_there_is_none(one: Trial) -> None:
    given = program("import torch", 'name = "cuda:0"', "x = torch.ones(3)", "x.to(name)")
    verdict = verdict_of(one, given, claim(given, '"cuda:0"', worlds=(WITHOUT,)))
    assert [(hit.gpus, hit.role) for hit in verdict.hits] == [(0, "culprit")]
    assert not verdict.misses


def test_rules_that_are_counted_apart_are_rules() -> None:
    assert rules_apart().keys() <= {rule.name for rule in RULES}


# -- who could cheat ------------------------------------------------------------------------------


def test_a_silent_linter_misses_everything_and_one_that_reports_everything_is_told_so(
    one: Trial,
) -> None:
    silent, loud = Tally(), Tally()
    for given in ALL:
        lines = [line for line in given.text.splitlines() if line and line[0] != " "]
        silent.add(verdict_of(one, given))
        loud.add(verdict_of(one, given, *(claim(given, line, machine="") for line in lines)))
    assert (silent.missed, silent.raising, silent.alarmed) == (2, 2, 0)
    assert (loud.missed, loud.alarmed, loud.passing) == (0, 4, 4)


# -- generated programs ---------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_programs() -> None:
    once, again = (list(islice(programs_of(7), 12)) for _ in range(2))
    assert once == again
    assert once != list(islice(programs_of(8), 12))
    assert len({each.text for each in once}) == 12


def test_programs_of_a_seed_are_judged(one: Trial) -> None:
    tally = Tally()
    for verdict in one.verdicts(islice(programs_of(1), 40)):
        tally.add(verdict)
    assert tally.programs == 40
    assert tally.faults == 0
    assert tally.failing <= 2
    assert tally.passing >= 20
    assert tally.raising >= 5
    assert tally.missed <= tally.raising / 2
    assert tally.alarmed <= tally.passing / 4
