"""A recording on disk: its file is bounded, whole, this process's own, and never in the way."""

import errno
import fcntl
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import textwrap
import traceback
import warnings
from contextlib import contextmanager, suppress

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard import _distributed, _journal, _record_events, _record_paths, _transfers
from runtime_guard._mismatch import Mismatch, TensorFacts
from runtime_guard._recording import read
from tests.guard.accelerator import on_accelerator

SMALL = 100_000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


@pytest.fixture
def clock(monkeypatch):
    """A clock of the journal that stands still until it is moved."""
    times = [100.0]
    monkeypatch.setattr(_journal, "monotonic", lambda: times[0])
    return times


def transfer(times=1):
    x = on_accelerator(torch.ones(3))
    for _ in range(times):
        x.cpu()


def counted(path) -> list[int]:
    return [sum(tally.count for tally in each.totals.values()) for each in read(path)]


def types(path) -> list[str]:
    return [json.loads(line)["type"] for line in path.read_text().splitlines()]


def mismatch(name="encoder"):
    facts = TensorFacts("cpu", (2, 3), "torch.float32", 24)
    return Mismatch(name, "Linear", "input", facts, "cuda:0", "parameter 'weight'")


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


def test_the_file_says_what_the_recorder_says(path):
    with runtime_guard.record(path) as recorder:
        transfer(5)
        x = on_accelerator(torch.ones(3))
        moved = x.cpu()
        recorder.note_mismatch(mismatch())
    assert moved.shape == (3,)
    (found,) = read(path)
    live = recorder.recording()
    assert found.totals.keys() == live.totals.keys()
    assert [each.count for each in found.totals.values()] == [5, 1]
    assert found.values == live.values == recorder.values
    assert [each.spot for each in found.events] == [each.spot for each in live.events]
    assert found.header == live.header
    assert found.mismatches == (json.loads(json.dumps(mismatch().to_dict())),)
    assert found.complete
    assert live.complete


def test_steps_of_optimizers_are_counted(path):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with runtime_guard.record(path) as recorder:
        for _ in range(3):
            model(torch.ones(2)).sum().backward()
            optimizer.step()
    optimizer.step()
    assert recorder.steps == 3
    assert read(path)[0].steps == 3


def test_events_are_written_in_batches(path, clock):
    with runtime_guard.record(path):
        transfer(255)
        assert types(path) == ["header"]
        transfer(1)
        assert types(path).count("event") == 256
        transfer(1)
        assert types(path).count("event") == 256
        clock[0] += 0.6
        transfer(1)
        assert types(path).count("event") == 258


def test_totals_are_written_now_and_then_and_at_the_end(path, clock):
    with runtime_guard.record(path):
        transfer()
        clock[0] += 4
        transfer()
        assert "totals" not in types(path)
        clock[0] += 2
        transfer()
        assert types(path) == ["header", "event", "event", "event", "totals"]
    assert types(path)[-2:] == ["totals", "end"]


def test_a_step_writes_what_is_old_enough(path, clock):
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    with runtime_guard.record(path):
        transfer()
        clock[0] += 1
        optimizer.step()
        assert types(path) == ["header", "event"]


def test_rotation_bounds_both_files_and_loses_no_count(path):
    largest = 0
    with runtime_guard.record(path, max_bytes=SMALL) as recorder:
        recorder.note_mismatch(mismatch())
        for _ in range(40):
            transfer(100)
            sizes = [each.stat().st_size for each in path.parent.iterdir()]
            largest = max(largest, sum(sizes))
            assert counted(path) == [pytest.approx(recorder_count(recorder), abs=256)]
    assert sorted(each.name for each in path.parent.iterdir()) == ["run.jsonl", "run.jsonl.1"]
    assert SMALL // 2 < largest <= SMALL
    (found,) = read(path)
    assert counted(path) == [4000]
    assert len(found.mismatches) == 1
    assert len(found.events) < 4000


def recorder_count(recorder) -> int:
    return sum(tally.count for tally in recorder.totals.values())


def test_tables_are_bounded_and_say_what_was_left_out(path):
    x = on_accelerator(torch.ones(3))
    code = compile("x.cpu()", "made.py", "eval")
    with runtime_guard.record(path, max_bytes=SMALL) as recorder:
        for line in range(1, 300):
            eval(code.replace(co_firstlineno=line, co_name=f"made_{line}"), {"x": x})
    assert 10 < len(recorder.totals) < 200
    (found,) = read(path)
    assert found.dropped == recorder.recording().dropped == 299 - len(found.totals)
    assert sum(each.stat().st_size for each in path.parent.iterdir()) <= SMALL


def test_mismatches_are_bounded(path):
    with runtime_guard.record(path, max_bytes=SMALL) as recorder:
        for number in range(1000):
            recorder.note_mismatch(mismatch(f"layers.{number}"))
    assert 1 < len(read(path)[0].mismatches) < 100
    assert path.stat().st_size < SMALL // 2


@contextmanager
def at_most(size):
    """Let the system refuse to make any file larger, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_told_once_and_stops_nothing(path):
    with runtime_guard.record(path) as recorder:
        transfer(256)
        with (
            at_most(path.stat().st_size + 1000),
            pytest.warns(RuntimeWarning, match=r"cannot write to .*run\.jsonl any more") as told,
        ):
            transfer(2000)
        assert len(told) == 1
        assert recorder_count(recorder) == 2256
        assert counted(path) == [256], "whole lines only"
    # There is room again at the end.
    assert counted(path) == [2256]
    assert read(path)[0].complete


def test_nor_does_a_disk_that_stays_full(path):
    recorder = runtime_guard.record(path)
    with at_most(100_000):
        with pytest.warns(RuntimeWarning, match="goes on in memory"):
            transfer(2000)
        recorder.remove()
    assert recorder_count(recorder) == 2000
    assert 0 < counted(path)[0] < 2000


def test_where_warnings_are_errors_a_full_disk_is_no_error(path, capsys):
    with runtime_guard.record(path) as recorder, at_most(1):
        warnings.simplefilter("error")
        transfer(1000)
    assert recorder_count(recorder) == 1000
    assert capsys.readouterr().err.count("goes on in memory") == 1


def test_a_file_that_cannot_be_written_is_refused_at_the_start(tmp_path):
    before = dict(vars(torch.Tensor))
    with pytest.raises(FileNotFoundError, match="cannot record transfers") as caught:
        runtime_guard.record(tmp_path / "missing" / "run.jsonl")
    assert caught.value.errno == errno.ENOENT
    assert "run.jsonl" in str(caught.value)
    with pytest.raises(IsADirectoryError, match="cannot record transfers"):
        runtime_guard.record(tmp_path)
    assert dict(vars(torch.Tensor)) == before


def test_a_limit_that_holds_no_recording_is_refused(path):
    with pytest.raises(ValueError, match="max_bytes is 1000: at least 100000 are needed"):
        runtime_guard.record(path, max_bytes=1000)


def test_one_process_records_to_a_file_once_at_a_time(path):
    with (
        runtime_guard.record(path),
        pytest.raises(ValueError, match="is being recorded to already"),
    ):
        runtime_guard.record(path)
    runtime_guard.record(path).remove()


def test_a_new_run_begins_the_file_anew(path):
    for times in (3000, 2):
        with runtime_guard.record(path, max_bytes=SMALL):
            transfer(times)
    assert counted(path) == [2]
    assert not path.with_name("run.jsonl.1").exists()


def test_a_handle_that_is_attached_again_goes_on_in_its_file(path):
    recorder = runtime_guard.record(path)
    transfer(2)
    recorder.remove()
    transfer(7)
    recorder.attach()
    transfer(3)
    assert not recorder.recording().complete
    recorder.remove()
    assert counted(path) == [5]
    assert read(path)[0].complete


def test_the_time_while_it_is_removed_is_not_in_it(path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(_transfers, "perf_counter", lambda: now[0])
    recorder = runtime_guard.record(path)
    for recorded, removed in ((2, 50), (1, 7)):
        recorder.attach()
        now[0] += recorded
        recorder.remove()
        now[0] += removed
    assert recorder.recording().seconds == read(path)[0].seconds == 3


def test_arguments_that_python_fills_in_later_are_those_of_the_recording(path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["-m", "--fast"])
    recorder = runtime_guard.record(path)
    monkeypatch.setattr(sys, "argv", ["train.py", "--fast"])
    recorder.remove()
    sys.argv.clear()
    assert read(path)[0].header == recorder.recording().header
    assert recorder.recording().header.argv == ("train.py", "--fast")


def test_a_rank_that_is_known_only_for_a_while_is_put_down(path, monkeypatch):
    recorder = runtime_guard.record(path, max_bytes=SMALL)
    with monkeypatch.context() as patched:
        patched.setattr(_record_events, "rank", lambda: 1)
        patched.setattr(_record_events, "world_size", lambda: 2)
        transfer(1000)
    recorder.remove()
    assert (read(path)[0].header.rank, read(path)[0].header.world_size) == (1, 2)


def test_the_file_stays_where_it_was_asked_for(path, monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with runtime_guard.record("run.jsonl", max_bytes=SMALL):
        monkeypatch.chdir(tmp_path / "elsewhere")
        transfer(3000)
    assert counted(path) == [3000]


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
    def open_files() -> set[str]:
        found = set()
        for each in os.listdir("/proc/self/fd"):  # noqa: PTH208
            with suppress(OSError):
                found.add(os.readlink(f"/proc/self/fd/{each}"))  # noqa: PTH115
        return {each for each in found if each.endswith((".jsonl", ".1"))}

    yield
    assert open_files() == set()
