"""What is made of runs: verdicts, problems, tables, documents. No script is run here."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from runtime_guard.mutation import mutation
from runtime_guard.mutation import proof as proving
from runtime_guard.mutation.agreement import Agreement, compared
from runtime_guard.mutation.documents import of_mutation, of_proof
from runtime_guard.mutation.lacking import lacks
from runtime_guard.mutation.machines import MACHINES, Proof, problem
from runtime_guard.mutation.marking import MarkedPlace
from runtime_guard.mutation.moves import moves_in
from runtime_guard.mutation.mutation import Mutation, judged, mutate
from runtime_guard.mutation.plan import Failure, Loss
from runtime_guard.mutation.proof import Change, prove
from runtime_guard.mutation.running import Job, Run, ScriptMachine
from runtime_guard.mutation.source import ScriptSource
from runtime_guard.mutation.tables import MutationTable, ProofTable, outcome

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

    def run(job, texts, machine):
        assert (job, machine) == (JOB, ScriptMachine(3))
        text = texts[0].data
        if b"runtime_guard_made(0, (x.cuda()))" in text:
            return replace(PASSED, reached=frozenset({0, 1, 2}))
        if text == SCRIPT.replace(b".to(d)", b""):
            return failed(MIXED)
        assert text in (SCRIPT.replace(b".cuda()", b""), SCRIPT.replace(b".cpu()", b""))
        return PASSED if b"cuda" in text else failed(NO_DATA)

    monkeypatch.setattr(mutation, "run", run)
    return mutate(JOB, ScriptSource("train.py", SCRIPT), 3, jobs=jobs)


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
    assert mutate(JOB, ScriptSource("train.py", SCRIPT), 1).mutants == ()


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
    3   .cpu()      redundant   passes; the same parameters, bit for bit
    4   .xpu()      unreached   not run: the script never reaches this line
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
    asked = []

    def run(job, texts, machine):
        asked.append((machine, [(each.data.decode(), each.file) for each in texts]))
        return replace(PASSED, gpus=machine.gpus, real=machine.real)

    monkeypatch.setattr(proving, "run", run)
    other = Change("net.py", ScriptSource("net.py", b"a\n"), ScriptSource("net.py", b"b\n"))
    two = [ScriptSource("train.py", b"old"), ScriptSource("train.py", b"new")]
    proof = prove(JOB, two, [other], jobs=1, real=1)
    machines = [ScriptMachine(0), ScriptMachine(1, real=True), ScriptMachine(2)]
    old = [("old", ""), ("a\n", "net.py")]
    new = [("runtime_guard_made(0, None); new", ""), ("runtime_guard_made(1, None); b\n", "net.py")]
    assert asked == [(each, texts) for texts in (old, new) for each in machines]
    assert proof.machines() == ["CPU only", "1 GPU (real)", "2 GPUs"]
    assert (proof.unreached(), proof.unreached_elsewhere()) == ([1], ["net.py:1"])
    assert prove(JOB, [ScriptSource("train.py", b"new")], jobs=2).before is None


L1, L2, OTHER = Loss(1, "0.5", "a"), Loss(2, "0.25", "b"), Loss(2, "0.26", "c")
TRAINED = replace(PASSED, gpus=0, devices=("cpu",), losses=((L1, L2),))


@pytest.mark.parametrize(
    ("after", "verdict", "told"),
    [
        (TRAINED, "unchanged", "losses unchanged (2 steps)"),
        (
            replace(TRAINED, losses=((L1, OTHER),)),
            "changed",
            "the loss of step 2 differs: 0.25 before, 0.26 after",
        ),
        (
            replace(TRAINED, losses=((L1,),)),
            "changed",
            "the loss of step 2 is missing: 0.25 before",
        ),
        (
            replace(TRAINED, losses=((L1, L2, OTHER),)),
            "changed",
            "a loss of step 2 is new: 0.26 after",
        ),
        (replace(TRAINED, steps=1), "changed", "2 steps before, 1 after"),
        (
            replace(TRAINED, digest="other"),
            "changed",
            "losses unchanged, other parameters after 2 steps",
        ),
    ],
)
def test_losses_are_compared_to_the_last_bit(after, verdict, told):
    assert compared(TRAINED, after) == Agreement(verdict, told)


def test_where_there_are_no_losses_parameters_are_compared():
    bare = replace(TRAINED, losses=())
    assert compared(bare, bare).text == "parameters unchanged (2 steps)"
    empty = replace(bare, digest="")
    assert compared(empty, empty) == Agreement(
        "unknown", "no losses to compare: their bytes cannot be had"
    )
    idle = replace(empty, steps=0)
    assert compared(idle, idle).text == "no losses to compare: no optimizer made a step"


BEFORE, AFTER = ScriptSource("train.py", b"old"), ScriptSource("train.py", b"new")


def agreement_of(monkeypatch, before, after, real=0):
    """What is said of the losses, where runs come out by machine as told."""

    def run(job, texts, machine):
        results = before if texts[0].data == b"old" else after
        result = results[machine.gpus]
        if isinstance(result, list):
            result = result.pop(0)
        return replace(result, gpus=machine.gpus, real=machine.real)

    monkeypatch.setattr(proving, "run", run)
    found = prove(JOB, [BEFORE, AFTER], real=real).agreement
    assert found is not None
    return found.text


def test_what_needs_a_gpu_is_compared_on_a_virtual_one(monkeypatch):
    needs = (failed(MIXED, 0), TRAINED, TRAINED)
    said = "losses unchanged (2 steps, on 1 virtual GPU)"
    # A script may compute otherwise where there is no GPU.
    differs = replace(TRAINED, losses=((OTHER,),))
    assert agreement_of(monkeypatch, needs, (differs, TRAINED, TRAINED)) == said
    assert agreement_of(monkeypatch, needs, needs) == said
    # Those of a real one are not the CPU's.
    other = differs
    real = (failed(MIXED, 0), other, TRAINED)
    assert (
        agreement_of(monkeypatch, real, (TRAINED, other, TRAINED), real=1)
        == "losses unchanged (2 steps, on 2 virtual GPUs)"
    )
    none_virtual = (failed(MIXED, 0), [other, TRAINED], other)
    new = (TRAINED, [other, TRAINED], other)
    assert agreement_of(monkeypatch, none_virtual, new, real=2) == said


def test_what_differs_from_itself_is_not_compared(monkeypatch):
    other = replace(TRAINED, losses=((L1, OTHER),))
    unsteady = ([TRAINED, other], TRAINED, TRAINED)
    assert agreement_of(monkeypatch, unsteady, (other,) * 3) == (
        "losses not compared: the losses of the unchanged script differ from run to run"
    )
    assert agreement_of(monkeypatch, (TRAINED,) * 3, (other,) * 3) == (
        "the loss of step 2 differs: 0.25 before, 0.26 after"
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (failed(NO_DATA, 0), TRAINED, "the script fails before the change"),
        (TRAINED, failed(NO_DATA, 0), "the script fails after the change"),
        (LATE, LATE, "the script does not end in time before the change"),
    ],
)
def test_what_does_not_come_to_its_end_is_not_compared(monkeypatch, before, after, said):
    told = agreement_of(monkeypatch, (before,) * 3, (after,) * 3)
    assert told == f"losses not compared: {said}"


@pytest.mark.parametrize(
    ("kind", "message", "said"),
    [
        ("FileNotFoundError", "no data", "the script reads data that is not here"),
        (
            "RuntimeError",
            "Dataset not found. You can use download=True to download it",
            "the script reads data that is not here",
        ),
        ("URLError", "<urlopen error no>", "the script downloads, and nothing comes"),
        ("ModuleNotFoundError", "No module 'm'", "the script imports what is not installed"),
        ("", "t.py: error: the following arguments are required: x", "the script needs arguments"),
    ],
)
def test_what_a_script_lacks_is_said_on_one_line(kind, message, said):
    assert lacks(Failure(kind, message)) == f"{said} ({message})"


def test_what_has_no_words_and_what_it_does_not_lack():
    assert lacks(Failure("EOFError", "")) == "the script waits for somebody to type"
    assert lacks(Failure("ValueError", "a required value is missing")) == ""


def test_what_a_script_lacks_is_said_once_for_all_machines():
    lacking = tuple(failed(NO_DATA, gpus) for gpus in range(3))
    said = "the script reads data that is not here (no data)"
    assert Proof(JOB, lacking, lacking).problems() == [said]
    assert Proof(JOB, (*lacking[:2], PASSED), lacking).problems() == [
        f"CPU only: {said}",
        f"1 GPU: {said}",
    ]


def test_other_losses_are_a_problem():
    changed = Agreement("changed", "the loss of step 2 differs: 1.0 before, 2.0 after")
    found = replace(proof(), agreement=changed)
    assert found.problems() == [changed.text]
    assert of_proof(found)["losses"] == {"verdict": "changed", "told": changed.text}
    assert "\nThe loss of step 2 differs: 1.0 before, 2.0 after\n" in shown(ProofTable(found))
    unknown = Agreement("unknown", "losses not compared: …")
    assert replace(found, agreement=unknown).problems() == []


def test_what_is_new_in_other_files_and_no_run_came_to():
    found = replace(proof(), elsewhere=(("net.py", MarkedPlace(7, 0)),))
    said = "No run reached the new code on line 4, 12, net.py:7: run more steps."
    assert said in shown(ProofTable(found))
    assert of_proof(found)["unreached_elsewhere"] == ["net.py:7"]


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
        (failed(NO_DATA), failed(NO_DATA), "the script reads data that is not here (no data)"),
        (None, failed(NO_DATA), "the script reads data that is not here (no data)"),
        (PASSED, failed(NO_DATA), "the script fails"),
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
    return Proof(
        JOB,
        (without, ON_CPU, on_two),
        before,
        (MarkedPlace(4, 0), MarkedPlace(9, 1), MarkedPlace(12, 2)),
    )


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

No run reached the new code on line 4, 12: run more steps."""
    )


def test_without_an_optimizer_the_losses_tell_where_it_trained():
    assert outcome(replace(PASSED, by_hand=True), JOB) == "2 steps, losses on cuda:0"


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
    assert of_proof(failing)["problems"] == [
        "CPU only: the script reads data that is not here (no data)"
    ]
