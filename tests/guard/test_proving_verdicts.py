"""What is made of runs: verdicts, problems, tables, documents. No script is run here."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from runtime_guard._proving import machines, mutation
from runtime_guard._proving.documents import of_mutation, of_proof
from runtime_guard._proving.machines import MACHINES, Proof, problem, prove
from runtime_guard._proving.marking import Mark
from runtime_guard._proving.moves import moves_in
from runtime_guard._proving.mutation import Mutation, judged, mutate
from runtime_guard._proving.plan import Failure
from runtime_guard._proving.running import Job, Run
from runtime_guard._proving.source import Source
from runtime_guard._proving.tables import MutationTable, ProofTable

JOB = Job("train.py", ("--lr", "1"), steps=2, timeout=60)
PASSED = Run(1, "passed", 0, 2, ("cuda:0",), None, "abc", "printed", 1.5, frozenset())
ON_CPU = replace(PASSED, devices=("cpu",))
LATE = replace(PASSED, ending="timed out", status=None, steps=1)
MIXED = Failure("RuntimeError", "Expected all tensors …", "train.py", 9, about_devices=True)
NO_DATA = Failure("FileNotFoundError", "no data", "data/load.py", 3)


def failed(failure, gpus=1):
    nothing = replace(PASSED, gpus=gpus, steps=0, devices=(), digest="")
    return replace(nothing, ending="failed", status=1, failure=failure)


def shown(table):
    console = Console(file=StringIO(), width=100, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


@pytest.mark.parametrize(
    ("without", "verdict", "same"),
    [
        (PASSED, "redundant", True),
        (replace(PASSED, output="another"), "redundant", True),
        (replace(PASSED, digest="other"), "redundant", False),
        (replace(PASSED, steps=1), "redundant", False),
        (ON_CPU, "needed", True),
        (failed(MIXED), "needed", None),
        (failed(NO_DATA), "broken", None),
        (LATE, "timed out", None),
    ],
)
def test_what_a_run_without_a_move_says(without, verdict, same):
    (move,) = moves_in("x.cuda()")
    mutant = judged(move, without, PASSED)
    assert (mutant.verdict, mutant.same) == (verdict, same)


@pytest.mark.parametrize(("output", "same"), [("printed", True), ("another", False)])
def test_where_nothing_is_trained_what_is_printed_is_compared(output, same):
    (move,) = moves_in("x.cuda()")
    whole = replace(PASSED, digest="", steps=0, devices=())
    mutant = judged(move, replace(whole, output=output), whole)
    assert (mutant.verdict, mutant.same) == ("redundant", same)


SCRIPT = b"x.cuda()\ny.to(d)\nz.cpu()\nw.xpu()\n"


def mutation_of(monkeypatch, jobs=1):
    """A mutation of `SCRIPT` whose last move is never made, and whose second is needed."""

    def run(job, text, devices, shown=None):
        assert (job, devices) == (JOB, 3)
        if b"runtime_guard_made(0, (x.cuda()))" in text:
            return replace(PASSED, reached=frozenset({0, 1, 2}))
        if text == SCRIPT.replace(b".to(d)", b""):
            return failed(MIXED)
        assert text in (SCRIPT.replace(b".cuda()", b""), SCRIPT.replace(b".cpu()", b""))
        return PASSED if b"cuda" in text else failed(NO_DATA)

    monkeypatch.setattr(mutation, "run", run)
    return mutate(JOB, Source("train.py", SCRIPT), 3, jobs=jobs)


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_move_is_taken_out_in_turn(monkeypatch, jobs):
    found = mutation_of(monkeypatch, jobs)
    assert [(mutant.move.text, mutant.verdict) for mutant in found.mutants] == [
        (".cuda()", "broken"),
        (".to(d)", "needed"),
        (".cpu()", "redundant"),
        (".xpu()", "unreached"),
    ]


def test_a_script_that_does_not_pass_has_no_mutants(monkeypatch):
    monkeypatch.setattr(mutation, "run", lambda *_: failed(NO_DATA))
    assert mutate(JOB, Source("train.py", SCRIPT), 1).mutants == ()


def test_a_mutation_as_a_table(monkeypatch):
    assert (
        shown(MutationTable(mutation_of(monkeypatch)))
        == """\
train.py --lr 1 (on a virtual machine with 3 GPUs, 2 steps)
4 moves: 1 needed, 1 redundant, 1 unreached, 1 broken

Moves

 Line   Move                    Without it
 ───────────────────────────────────────────────────────────────────────────
    1   .cuda()     broken      data/load.py:3: FileNotFoundError: no data
    2   .to(d)      needed      line 9: RuntimeError: Expected all tensors …
    3   .cpu()      redundant   passes; the same parameters, to the last bit
    4   .xpu()      unreached   not run: the script never comes there
"""
    )


def test_a_script_without_moves():
    said = shown(MutationTable(Mutation(JOB, 1, PASSED, ())))
    assert said.endswith("\nNo moves between devices")


def test_a_mutation_for_programs(monkeypatch):
    document = of_mutation(mutation_of(monkeypatch))
    assert document["counts"] == {
        "needed": 1,
        "redundant": 1,
        "unreached": 1,
        "broken": 1,
        "timed out": 0,
    }
    first, second, _, last = document["moves"]
    assert {**second, "run": None} == {
        "line": 2,
        "column": 2,
        "text": ".to(d)",
        "kind": "to",
        "verdict": "needed",
        "same": None,
        "told": "line 9: RuntimeError: Expected all tensors …",
        "run": None,
    }
    assert second["run"]["failure"]["about_devices"] is True
    assert first["run"]["ending"] == "failed"
    assert last["run"] is None


def test_a_proof_runs_each_text_on_each_machine(monkeypatch):
    def run(job, text, devices, shown=None):
        return replace(PASSED, gpus=devices, output=f"{shown.decode()}, {text.decode()}")

    monkeypatch.setattr(machines, "run", run)
    proof = prove(JOB, [Source("train.py", b"old"), Source("train.py", b"new")], jobs=2)
    assert proof.before is not None
    old, new = "old, old", "new, runtime_guard_made(0, None); new"
    assert [(each.gpus, each.output) for each in proof.before] == [(0, old), (1, old), (2, old)]
    assert [(each.gpus, each.output) for each in proof.after] == [(0, new), (1, new), (2, new)]
    assert proof.unreached() == [1]
    assert prove(JOB, [Source("train.py", b"new")]).before is None


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (None, PASSED, ""),
        (None, ON_CPU, ""),
        (None, failed(MIXED, 0), "the script fails"),
        (None, LATE, "the script does not end in time"),
        (LATE, LATE, "the script does not end in time"),
        (failed(MIXED), PASSED, ""),
        (failed(MIXED), failed(MIXED), "the script fails"),
        (failed(MIXED, 0), failed(MIXED, 0), ""),
        (failed(NO_DATA, 0), failed(NO_DATA, 0), "the script fails"),
        (failed(MIXED, 0), failed(NO_DATA, 0), "the script fails"),
        (ON_CPU, ON_CPU, ""),
        (PASSED, ON_CPU, "the script trained on the GPU, and no longer does"),
    ],
)
def test_what_must_not_happen(before, after, said):
    assert problem(before, after) == said


def proof():
    without = replace(ON_CPU, gpus=0)
    before = (failed(NO_DATA, 0), failed(MIXED), replace(LATE, gpus=2))
    on_two = replace(PASSED, gpus=2, devices=("cuda:0", "cuda:1"), reached=frozenset({1}))
    return Proof(JOB, (without, ON_CPU, on_two), before, (Mark(4, 0), Mark(9, 1), Mark(12, 2)))


def test_a_proof_as_a_table():
    assert (
        shown(ProofTable(proof()))
        == """\
What train.py does

 Machine     Before                                      After
 ──────────────────────────────────────────────────────────────────────────────────────────────────
 CPU only    data/load.py:3: FileNotFoundError: no       2 steps, parameters on the CPU
             data
 1 GPU       line 9: RuntimeError: Expected all          2 steps, parameters on the CPU: the GPU is
             tensors …                                   not used
 2 GPUs      not ended after 60 s, 1 step                2 steps, parameters on cuda:0, cuda:1

No run came to what is new on line 4, 12: more steps may."""
    )


def test_a_proof_of_one_text_as_a_table():
    said = shown(ProofTable(replace(proof(), before=None)))
    assert "Before" not in said
    assert " CPU only    2 steps, parameters on the CPU\n" in said


def test_a_proof_for_programs():
    document = of_proof(proof())
    assert list(MACHINES) == [each["machine"] for each in document["after"]]
    assert document["after"][2]["devices"] == ["cuda:0", "cuda:1"]
    assert document["before"][1]["told"] == "line 9: RuntimeError: Expected all tensors …"
    assert document["problems"] == []
    assert document["changed_lines"] == [4, 9, 12]
    assert document["unreached_lines"] == [4, 12]
    assert document["arguments"] == ["--lr", "1"]
    assert of_proof(replace(proof(), before=None))["before"] is None
    failing = Proof(JOB, (failed(NO_DATA, 0), PASSED, PASSED))
    assert of_proof(failing)["problems"] == ["CPU only: the script fails"]
