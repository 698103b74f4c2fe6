"""The recordings of several processes: forks, children and ranks have files of their own."""

import fcntl
import json
import multiprocessing
import os
import subprocess
import sys
import textwrap
import traceback
import warnings

import pytest
import torch

import runtime_guard
from runtime_guard import distributed as _distributed
from runtime_guard.profiler.recording import paths as _record_paths
from runtime_guard.profiler.recording.recording import read
from tests.guard.accelerator import on_accelerator
from tests.guard.recorded import (
    counted,
    mismatch,
    open_recordings,
    recorder_count,
    transfer,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def in_a_fork(function) -> int:
    """Call the function in a forked process, and return its exit status."""
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            function()
        except BaseException:  # noqa: BLE001 - the child must not go on as pytest
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_file_that_another_process_writes_is_left_alone(path):
    path.write_text("of another process\n")
    with path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with runtime_guard.record(path):
            transfer(2)
    assert path.read_text() == "of another process\n"
    assert counted(path.with_name(f"run.pid{os.getpid()}.jsonl")) == [2]


def test_a_forked_process_writes_a_file_of_its_own(path):
    def child():
        transfer(3)
        recorder.remove()

    with runtime_guard.record(path) as recorder:
        transfer(2)
        assert in_a_fork(child) == 0
        transfer(1)
    assert counted(path) == [3, 3]
    parent, forked = read(path)
    assert parent.header.pid == os.getpid() != forked.header.pid
    assert parent.complete
    assert forked.complete


def test_a_forked_process_that_moves_nothing_writes_nothing(path):
    def child():
        recorder.remove()

    with runtime_guard.record(path) as recorder:
        transfer(2)
        assert in_a_fork(child) == 0
    assert [each.name for each in path.parent.iterdir()] == ["run.jsonl"]
    assert counted(path) == [2]


def test_each_rank_has_its_file(path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "3")
    for rank in range(3):
        monkeypatch.setenv("RANK", str(rank))
        with runtime_guard.record(path):
            transfer(rank + 1)
    names = ["run.jsonl", "run.rank1.jsonl", "run.rank2.jsonl"]
    assert sorted(each.name for each in path.parent.iterdir()) == names
    # One process wrote all three here, which on a machine no three ranks do.
    assert [each.header.rank for each in read(path)] == [0, 1, 2]


def test_a_child_process_begins_its_file_with_its_first_event(path, monkeypatch):
    monkeypatch.setenv("RUNTIME_GUARD_CHILD", "1")
    with runtime_guard.record(path):
        assert list(path.parent.iterdir()) == []
        transfer(2)
    own = path.with_name(f"run.pid{os.getpid()}.jsonl")
    assert [each.name for each in path.parent.iterdir()] == [own.name]
    assert counted(own) == [2]


def test_a_child_that_cannot_write_says_so_once_and_goes_on(path, monkeypatch):
    monkeypatch.setenv("RUNTIME_GUARD_CHILD", "1")
    with runtime_guard.record(path.parent / "missing" / "run.jsonl") as recorder:
        with pytest.warns(RuntimeWarning, match="cannot record transfers") as told:
            transfer(600)
        assert len(told) == 1
    assert recorder_count(recorder) == 600


def test_a_rank_is_no_child_but_its_workers_are(monkeypatch):
    environ = {"RUNTIME_GUARD_CHILD": "1"}
    assert _record_paths.is_child(None, environ)
    assert not _record_paths.is_child(1, environ)
    assert not _record_paths.is_child(None, {})
    monkeypatch.setattr(multiprocessing, "parent_process", object)
    assert _record_paths.is_child(1, environ)


@pytest.fixture
def ranks(monkeypatch):
    """Be rank 0 of three; what the others send is asked of them at the end."""
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "3")
    waiting = []

    def call_before_shutdown(callback):
        waiting.append(callback)
        return lambda: waiting.remove(callback)

    sent = []

    def gather(payload):
        sent.append(payload)
        other = json.loads(payload)
        other["rank"] = other["header"]["rank"] = 1
        other["header"].update(host="node1", pid=1)
        return [payload, json.dumps(other).encode(), None]

    monkeypatch.setattr(_distributed, "call_before_shutdown", call_before_shutdown)
    monkeypatch.setattr(_distributed, "gather", gather)
    return waiting, sent


@pytest.mark.parametrize("removed_before", [False, True])
def test_the_first_rank_puts_down_what_the_others_send(ranks, path, removed_before):
    waiting, sent = ranks
    with runtime_guard.record(path) as recorder:
        transfer(2)
        recorder.note_mismatch(mismatch())
        if removed_before:
            recorder.remove()
        (last_call,) = waiting
        waiting.clear()
        last_call()
    first, other = read(path)
    assert (other.header.rank, other.header.host) == (1, "node1")
    assert other.totals.keys() == first.totals.keys()
    assert other.mismatches == first.mismatches
    assert first.complete
    assert len(sent[0]) < 256_000


def test_what_a_rank_sends_is_bounded(ranks, path):
    waiting, sent = ranks
    x = on_accelerator(torch.ones(3))
    code = compile("x.cpu()", "made.py", "eval")
    with runtime_guard.record(path, max_bytes=1_000_000):
        for line in range(1, 400):
            eval(code.replace(co_firstlineno=line), {"x": x})
        waiting[0]()
    assert len(sent[0]) <= 1_000_000 // 8 // 3
    totals = json.loads(sent[0])["totals"]
    assert len(totals["spots"]) + totals["dropped"] == 399
    assert len(totals["spots"]) > 10


def test_outside_a_distributed_run_nobody_is_called_at_the_end(path, monkeypatch):
    taken_back = []
    monkeypatch.setattr(
        _distributed, "call_before_shutdown", lambda _callback: lambda: taken_back.append(1)
    )
    runtime_guard.record(path).remove()
    assert taken_back == [1]


def test_the_end_of_the_process_ends_the_file(path):
    program = f"""
        import multiprocessing
        import torch
        import runtime_guard
        from tests.guard.accelerator import on_accelerator

        x = on_accelerator(torch.ones(3))
        runtime_guard.record({str(path)!r})
        x.cpu()
        child = multiprocessing.get_context("fork").Process(target=x.cpu)
        child.start()
        child.join()
        raise SystemExit(3)
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(program)],
        check=False,
    )
    assert done.returncode == 3
    own, forked = read(path)
    assert own.complete
    assert forked.complete
    assert counted(path) == [1, 1]


@pytest.fixture(autouse=True)
def no_file_stays_open():
    yield
    assert open_recordings() == set()
