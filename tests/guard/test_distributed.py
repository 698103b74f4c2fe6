"""Which rank this is, what ranks send to the first one, and when they are last called."""

import os
import socket
import subprocess
import sys
import time

import pytest
import torch.distributed as dist
from torch.distributed import destroy_process_group
from torch.testing._internal.distributed.fake_pg import FakeStore

from runtime_guard import distributed as _distributed
from runtime_guard.distributed import (
    LARGEST,
    call_before_shutdown,
    gather,
    rank,
    rank_and_host,
    world_size,
)
from tests.guard.jobs.launch import launch


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def group():
    """Makes this process one rank of a group without others; its store is real."""

    def start(rank=0, world_size=1, store=None):
        store = store or dist.HashStore()
        dist.init_process_group("fake", store=store, rank=rank, world_size=world_size)

    yield start
    if dist.is_initialized():
        dist.destroy_process_group()


def test_outside_a_distributed_run_there_is_no_rank():
    assert (rank(), world_size(), rank_and_host()) == (None, None, "")


def test_the_rank_is_what_the_launcher_said(monkeypatch):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert (rank(), world_size()) == (3, 8)
    assert rank_and_host() == f"rank 3 on {socket.gethostname()}"


@pytest.mark.parametrize("value", [None, "", "third"])
def test_a_rank_without_a_world_or_a_number_is_none(monkeypatch, value):
    monkeypatch.setenv("RANK", "3")
    if value is not None:
        monkeypatch.setenv("WORLD_SIZE", value)
    assert (rank(), world_size(), rank_and_host()) == (None, None, "")


def test_the_rank_of_the_group_precedes_the_launchers(monkeypatch, group):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    group(rank=1, world_size=2)
    assert (rank(), world_size()) == (1, 2)


def test_the_rank_is_known_without_torch(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch.distributed")
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert rank() == 3
    assert "torch.distributed" not in sys.modules


def test_nothing_is_gathered_without_a_group():
    assert gather(b"x") is None


def test_a_single_rank_gathers_its_own(group):
    group()
    assert gather(b"x") == [b"x"]


def test_a_rank_that_sends_nothing_is_none(group):
    group(world_size=3)
    assert gather(b"x", timeout=0.0) == [b"x", None, None]


def test_a_rank_that_is_not_the_first_waits_for_nobody(group):
    group(rank=1, world_size=3)
    assert gather(b"x") is None


@pytest.mark.parametrize("number", [0, 1])
def test_a_store_that_fails_fails_nobody(group, number):
    group(number, 2, FakeStore())
    assert gather(b"x", timeout=0.0) == ([b"x", None] if number == 0 else None)


@pytest.mark.parametrize("number", [0, 1])
def test_a_store_whose_server_ended_fails_nobody(group, number):
    server = dist.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    group(number, 2, dist.TCPStore("localhost", server.port, is_master=False))
    del server
    assert gather(b"x") == ([b"x", None] if number == 0 else None)


def test_the_store_is_found_where_torch_renames_its_function(group, monkeypatch):
    store = dist.HashStore()
    group(1, 2, store)
    monkeypatch.delattr(dist.distributed_c10d, "_get_default_store")
    gather(b"x")
    assert store.num_keys() == 1


def test_a_group_without_a_store_gathers_its_own(group, monkeypatch):
    group(world_size=2)
    monkeypatch.setattr(dist.distributed_c10d, "_get_default_store", lambda: None)
    assert gather(b"x") == [b"x", None]


def test_a_rank_that_failed_does_not_wait_long(group, monkeypatch):
    group(world_size=2)
    monkeypatch.setattr(sys, "last_value", ZeroDivisionError(), raising=False)
    monkeypatch.setattr(_distributed, "AFTER_FAILURE", 0.0)
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waits"))
    assert gather(b"x", timeout=60.0) == [b"x", None]


def test_too_large_a_payload_is_refused(group):
    group()
    assert gather(bytes(LARGEST)) == [bytes(LARGEST)]
    with pytest.raises(ValueError, match=r"^payload is 1048577 bytes: a rank may send 1048576$"):
        gather(bytes(LARGEST + 1))


@pytest.fixture
def called():
    """What was called before the ranks part; and nothing stays changed in torch."""
    code = destroy_process_group.__code__
    calls: list[object] = []
    yield calls
    assert destroy_process_group.__code__ is code


def test_a_callback_is_called_before_the_group_ends_and_once(group, called):
    group()
    call_before_shutdown(lambda: called.append(dist.is_initialized()))
    destroy_process_group()
    assert called == [True]
    assert not dist.is_initialized()
    group()
    destroy_process_group()
    assert called == [True]


def test_a_callback_that_is_taken_back_is_not_called(group, called):
    group()
    undo = call_before_shutdown(lambda: called.append("taken back"))
    call_before_shutdown(lambda: called.append("kept"))
    undo()
    undo()
    destroy_process_group(dist.group.WORLD)
    assert called == ["kept"]


def test_the_end_of_a_part_of_the_group_calls_nothing(group, called):
    group()
    undo = call_before_shutdown(lambda: called.append("called"))
    destroy_process_group(dist.new_group([0]))
    assert called == []
    assert dist.is_initialized()
    undo()


def test_ending_what_never_began_is_torchs_error_still(called):
    undo = call_before_shutdown(lambda: called.append("called"))
    with pytest.raises(AssertionError):
        destroy_process_group()
    assert called == []
    undo()


def test_a_callback_that_fails_does_not_keep_the_group(group, called):
    def fail():
        raise ZeroDivisionError

    group()
    call_before_shutdown(fail)
    with pytest.raises(ZeroDivisionError):
        destroy_process_group()
    assert not dist.is_initialized()


def test_a_process_that_was_forked_off_does_not_call(group, called, monkeypatch):
    group()
    undo = call_before_shutdown(lambda: called.append("called"))
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        destroy_process_group()
    assert called == []
    undo()


def test_a_wrapper_of_somebody_elses_stays_as_it_is(group, called, monkeypatch):
    parted = []

    def wrapped(group=None):
        parted.append(group)
        destroy_process_group(group)

    group()
    monkeypatch.setattr(_distributed, "_redirection", None)
    monkeypatch.setattr(dist.distributed_c10d, "destroy_process_group", wrapped)
    undo = call_before_shutdown(lambda: called.append("called"))
    wrapped()
    assert parted == [None]
    assert called == []  # It waits for the end of the process.
    undo()


def test_at_exit_a_callback_precedes_what_was_registered_before_it():
    program = """
import atexit, sys
from runtime_guard.distributed import call_before_shutdown
atexit.register(print, "last")
call_before_shutdown(lambda: print("first"))
call_before_shutdown(lambda: print("never"))()
assert "torch" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["first", "last"]


def test_rank_0_gets_what_every_rank_has(tmp_path):
    first, *others = launch("gathering.py", "all", folder=tmp_path, ranks=4)
    assert first.output.splitlines() == [
        "[b'of rank 0', b'of rank 1', b'of rank 2', b'of rank 3']",
        "[b'again of rank 0', b'again of rank 1', b'again of rank 2', b'again of rank 3']",
    ]
    assert [other.output for other in others] == ["None\nNone\n"] * 3


def test_a_rank_that_died_holds_no_other(tmp_path):
    ended = launch("gathering.py", "dead", folder=tmp_path, ranks=3)
    assert [each.status for each in ended] == [0, 0, 3]
    assert ended[0].output == "[b'of rank 0', b'of rank 1', None]\n"


@pytest.mark.parametrize(("when", "printed"), [("destroy", "parted"), ("exit", "ending")])
def test_ranks_meet_once_more_before_they_part(tmp_path, when, printed):
    ended = launch("gathering.py", when, folder=tmp_path)
    lines = [sorted(each.output.splitlines()) for each in ended]
    assert [each.status for each in ended] == [0, 0]
    assert lines == [["[b'of rank 0', b'of rank 1']", printed], ["None", printed]]
