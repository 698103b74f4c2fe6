"""Namespaces: streams, events and graphs."""

import pytest
import torch

from tests.conformance.given import CPU, GPU, cpu, gpu


def test_the_current_stream_is_the_default_one_at_first():
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    assert torch.cuda.current_stream().device == GPU


def test_a_stream_is_current_in_its_context():
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        result = gpu(3) * 2
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    assert result.device == GPU


def test_a_stream_is_its_own_context_manager_by_torch():
    stream = torch.cuda.Stream()
    with torch.cuda.StreamContext(stream):
        assert torch.cuda.current_stream() == stream


def test_a_context_of_no_stream_changes_nothing():
    with torch.cuda.stream(None):
        assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_a_stream_is_made_current():
    stream = torch.cuda.Stream()
    try:
        torch.cuda.set_stream(stream)
        assert torch.cuda.current_stream() == stream
    finally:
        torch.cuda.set_stream(torch.cuda.default_stream())


def test_streams_differ():
    one, other = torch.cuda.Stream(), torch.cuda.Stream()
    assert one != other
    assert one != torch.cuda.default_stream()


def test_streams_wait_for_each_other():
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = torch.ones(2, device="cuda") + 1
    torch.cuda.current_stream().wait_stream(stream)
    result.record_stream(torch.cuda.current_stream())
    assert result.tolist() == [2.0, 2.0]


def test_a_stream_that_was_waited_for_has_nothing_to_do():
    stream = torch.cuda.Stream(priority=-1)
    stream.synchronize()
    assert stream.query() is True
    assert isinstance(stream.cuda_stream, int)


def test_cpu_tensors_record_no_streams():
    with pytest.raises((RuntimeError, NotImplementedError)):
        cpu(2).record_stream(torch.cuda.current_stream())


def test_events_measure_time():
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    start.record()
    gpu(100, 100) @ gpu(100, 100)
    end.record()
    end.synchronize()
    assert isinstance(start.elapsed_time(end), float)
    assert start.elapsed_time(end) >= 0


def test_an_event_that_was_waited_for_has_happened():
    event = torch.cuda.Event()
    event.record(torch.cuda.current_stream())
    torch.cuda.synchronize()
    assert event.query() is True


def test_a_stream_records_and_waits_for_events():
    stream = torch.cuda.Stream()
    event = stream.record_event()
    torch.cuda.current_stream().wait_event(event)
    event.wait(stream)
    stream.synchronize()
    assert event.query() is True


def test_a_copy_beside_the_computation():
    stream = torch.cuda.Stream()
    batch = cpu(4).pin_memory()
    with torch.cuda.stream(stream):
        moved = batch.to("cuda", non_blocking=True)
    torch.cuda.current_stream().wait_stream(stream)
    assert moved.tolist() == batch.tolist()


def test_a_copy_to_the_host_is_there_after_waiting():
    values = torch.tensor([1.0, 2.0], device="cuda")
    host = torch.empty(2, pin_memory=True)
    host.copy_(values, non_blocking=True)
    torch.cuda.synchronize()
    assert (host.device, host.tolist()) == (CPU, [1.0, 2.0])


def test_generic_streams_and_events():
    stream = torch.Stream(device="cuda")
    assert stream.device.type == "cuda"
    event = torch.Event(device="cuda")
    event.record()
    event.synchronize()
    assert event.query()
