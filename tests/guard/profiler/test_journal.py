"""A recording on disk: its file is bounded, whole, this process's own, and never in the way."""

import errno
import json
import resource
import sys
import warnings
from contextlib import contextmanager

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard.profiler import recorder as _transfers
from runtime_guard.profiler.recording import events as _record_events
from runtime_guard.profiler.recording import journal as _journal
from runtime_guard.profiler.recording.recording import read
from tests.guard.accelerator import on_accelerator
from tests.guard.recorded import (
    SMALL,
    counted,
    mismatch,
    open_recordings,
    recorder_count,
    transfer,
    types,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


@pytest.fixture
def clock(monkeypatch):
    """A clock of the journal that stands still until it is moved."""
    times = [100.0]
    monkeypatch.setattr(_journal, "monotonic", lambda: times[0])
    return times


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


@pytest.fixture(autouse=True)
def no_file_stays_open():
    yield
    assert open_recordings() == set()
