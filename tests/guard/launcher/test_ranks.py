"""Distributed runs: every rank is guarded, and what one of them does wrong it reports in full.

The jobs run on gloo, with `meta` as the second device. Rank 1 makes the mistake.
"""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from runtime_guard.profiler.recording.recording import read
from tests.guard.jobs.launch import FOLDER, Ended, launch

MODELS = FOLDER / "models.py"
HERE = socket.gethostname()


def line_of(text: str, file: Path = MODELS) -> str:
    """A line of source as messages name it."""
    [number] = [n for n, line in enumerate(file.read_text().splitlines(), 1) if text in line]
    return f"{file}:{number}: {text}"


def message_of(ended) -> str:
    """What runtime_guard said on rank 1, as one line."""
    said = re.findall(r"^\[rank1\]: ?(.*)$", ended.output, re.MULTILINE)
    lines = said or ended.output.splitlines()
    [begin] = [n for n, line in enumerate(lines) if "[rank 1 on " in line]
    return " ".join(" ".join(lines[begin:]).split())


def report(module: str, argument: str, anchor: str, devices: tuple[str, str], line: str) -> str:
    """What rank 1 says, as a pattern."""
    expected, found = devices
    shown = re.escape(f"float32[2, 4] on {found}")
    return (
        rf"\[rank 1 on {re.escape(HERE)}\] {re.escape(module)} has {anchor} "
        rf"on {expected}, but argument '{argument}' is on {found} .*{shown} "
        rf"failed at: {re.escape(line_of(line))} "
        rf"entered at: {re.escape(line_of('output = model(batch)'))} to fix it: "
    )


def of_batch(path: str) -> str:
    failed = "hidden = self.linear(batch[key])"
    return report(f"{path} (Linear)", "input", "parameter 'weight'", ("cpu", "meta"), failed)


def of_buffer(path: str) -> str:
    failed = "return {key: self.scaled(hidden)}"
    return report(f"{path} (Scaled)", "hidden", "buffer 'scale'", ("meta", "cpu"), failed)


@pytest.mark.parametrize(
    "job",
    [
        "ddp.py",
        "fsdp.py before",
        "fsdp.py after",
        "fsdp1.py original",
        "fsdp1.py flat",
        "tensor_parallel.py",
    ],
)
def test_a_right_run_ends_without_a_word(tmp_path, job):
    ended = launch(*job.split(), folder=tmp_path)
    assert [(each.status, each.output) for each in ended] == [(0, "")] * 2


WRAPPED = "_fsdp_wrapped_module.blocks.1._fsdp_wrapped_module.scaled"


@pytest.mark.parametrize(
    ("job", "ranks", "expected"),
    [
        ("ddp.py batch", 2, of_batch("module.blocks.0.linear")),
        ("ddp.py batch", 4, of_batch("module.blocks.0.linear")),
        ("ddp.py buffer", 2, of_buffer("module.blocks.1.scaled")),
        ("fsdp.py before batch", 2, of_batch("blocks.0.linear")),
        ("fsdp.py after batch", 2, of_batch("blocks.0.linear")),
        ("fsdp.py after batch", 4, of_batch("blocks.0.linear")),
        ("fsdp.py before buffer", 2, of_buffer("blocks.1.scaled")),
        ("fsdp1.py original buffer", 2, of_buffer(WRAPPED)),
        ("fsdp1.py flat buffer", 2, of_buffer(WRAPPED)),
        ("tensor_parallel.py batch", 2, of_batch("blocks.0.linear")),
        ("explained.py batch", 2, of_batch("module.blocks.0.linear")),
    ],
)
def test_the_rank_that_is_wrong_says_all_and_no_other_hangs(tmp_path, job, ranks, expected):
    ended = launch(*job.split(), folder=tmp_path, ranks=ranks)
    assert [each.status for each in ended] == [1] * ranks
    assert re.search(expected, message_of(ended[1]))
    others = "".join(each.output for rank, each in enumerate(ended) if rank != 1)
    assert "runtime_guard" not in others


def test_the_records_of_all_ranks_are_in_one_file(tmp_path):
    ended = launch("recording.py", folder=tmp_path, ranks=4)
    assert [each.status for each in ended] == [0] * 4
    for path in tmp_path.glob("run.rank*"):
        path.unlink()  # As those of other machines, which are not beside it.
    recordings = read(tmp_path / "run.jsonl")
    assert [each.header.rank for each in recordings] == [0, 1, 2, 3]
    assert [each.steps for each in recordings] == [3] * 4
    assert [tally.count for each in recordings for tally in each.totals.values()] == [1, 2, 3, 4]


def test_a_rank_that_dies_is_missing_from_the_records_and_no_more(tmp_path):
    ended = launch("recording.py", "die", folder=tmp_path, ranks=3)
    assert [each.status for each in ended] == [0, 0, 3]
    (tmp_path / "run.rank2.jsonl").unlink()
    assert [each.header.rank for each in read(tmp_path / "run.jsonl")] == [0, 1]


def run(folder, *command):
    """A command line of Python, in a process of its own with nothing of ours in its environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RUNTIME_")}
    environment = {**kept, "PYTHONPATH": str(FOLDER.parents[2]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ended(done.returncode, done.stdout + done.stderr)


def torchrun(folder, *options, wrong="nothing"):
    """The command line's own torchrun, of a script that knows nothing of a guard."""
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    script = (str(FOLDER / "plain.py"), wrong)
    return run(folder, "-m", "runtime_guard", "--check-meta", *options, *launcher, *script)


def test_torchrun_guards_every_rank_of_an_unchanged_script(tmp_path):
    ended = torchrun(tmp_path, wrong="batch")
    assert ended.status == 1
    assert re.search(of_batch("module.blocks.0.linear"), message_of(ended))
    assert "rank      : 1 (local_rank: 1)" in ended.output.partition("Root Cause")[2]


def test_torchrun_records_every_rank_and_says_nothing_of_a_right_run(tmp_path):
    ended = torchrun(tmp_path, "--record", "run.jsonl")
    assert (ended.status, ended.output) == (0, "")
    found = {each.header.rank: each.steps for each in read(tmp_path / "run.jsonl")}
    assert found == {None: 0, 0: 3, 1: 3}


def test_ranks_that_a_script_starts_itself_report_through_it(tmp_path):
    ended = run(tmp_path, str(FOLDER / "spawned.py"), "batch")
    assert ended.status == 1
    assert re.search(of_batch("module.blocks.0.linear"), message_of(ended))
    assert len(read(tmp_path / "run.jsonl")) == 2


def test_the_record_tells_what_was_wrong_and_on_which_rank(tmp_path):
    launch("recording.py", "batch", folder=tmp_path)
    (tmp_path / "run.rank1.jsonl").unlink()
    first, second = read(tmp_path / "run.jsonl")
    assert first.mismatches == ()
    [mismatch] = second.mismatches
    assert (mismatch["module"], mismatch["rank"]) == ("blocks.0.linear", f"rank 1 on {HERE}")
