"""How long copies keep a device busy: the device is asked, and never waited for."""

import pytest
import torch

import runtime_guard
from runtime_guard.profiler.recording import clock as _record_clock
from runtime_guard.profiler.recording import watch as _record_watch
from tests.guard.accelerator import on_accelerator


@pytest.fixture
def recorder():
    with runtime_guard.record() as handle:
        yield handle


class FakeEvent:
    """An event of CUDA that tells its time when the device is said to have come so far."""

    done = False

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self, stream):
        assert stream == "stream of cuda:0"

    def query(self):
        return FakeEvent.done

    def elapsed_time(self, other):
        assert FakeEvent.done
        return 0.25


@pytest.fixture
def cuda(monkeypatch):
    """Let copies to the double be timed as on CUDA; whoever would wait for it fails."""
    monkeypatch.setattr(_record_watch, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"stream of {device}")
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: pytest.fail("waited for the device"))
    monkeypatch.setattr(FakeEvent, "done", False)


def test_the_device_tells_its_time_when_it_is_ready(cuda, recorder):
    x = on_accelerator(torch.ones(3))
    for _ in range(2):
        x.cpu()
    (tally,) = recorder.totals.values()
    assert tally.device_us is None
    FakeEvent.done = True
    (tally,) = recorder.totals.values()
    assert tally.device_us == 500.0


def test_moves_that_do_not_cross_are_not_timed(cuda, recorder):
    x, y = on_accelerator(torch.ones(3)), torch.ones(3)
    timed = [
        _record_clock.started("Tensor.to", args, kwargs) is not None
        for args, kwargs in [
            ((x, "cpu"), {}),
            ((x, y), {}),
            ((x, torch.float64), {}),
            ((x, "cuda"), {}),
            ((x,), {"device": "cuda:0"}),
            ((y, "cpu"), {}),
            ((y, torch.float64), {}),
        ]
    ]
    assert timed == [True, True, False, False, False, False, False]


def test_a_device_that_never_answers_costs_bounded_memory(cuda, recorder):
    x = on_accelerator(torch.ones(3))
    for _ in range(2000):
        x.cpu()
    assert len(recorder._timings) <= 512
    (tally,) = recorder.totals.values()
    assert tally.count == 2000


def test_a_device_that_failed_does_not_stop_the_counting(cuda, recorder, monkeypatch):
    def query(self):
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(FakeEvent, "query", query)
    x = on_accelerator(torch.ones(3))
    for _ in range(3):
        x.cpu()
    (tally,) = recorder.totals.values()
    assert (tally.count, tally.device_us) == (3, None)
