"""Streams and events of virtual devices."""

import threading

import pytest
import torch

from runtime_guard import virtual_gpu


@pytest.fixture(autouse=True)
def two():
    with virtual_gpu(2):
        yield


FIRST, SECOND = torch.device("cuda:0"), torch.device("cuda:1")


class TestStreams:
    def test_one_belongs_to_a_device(self):
        assert torch.cuda.Stream().device == FIRST
        assert torch.cuda.Stream(1).device == SECOND
        assert torch.cuda.Stream("cuda:1").device_index == 1
        with torch.cuda.device(1):
            assert torch.cuda.Stream().device == SECOND

    def test_each_is_another(self):
        one, other = torch.cuda.Stream(), torch.cuda.Stream()
        assert one == one  # noqa: PLR0124 - that it is equal to itself is what is asked
        assert one != other
        assert len({one, other, one}) == 2

    def test_the_default_one_is_current(self):
        assert torch.cuda.current_stream() == torch.cuda.default_stream()
        assert torch.cuda.default_stream().cuda_stream == 0
        assert torch.cuda.current_stream(1).device == SECOND

    def test_a_context_makes_one_current(self):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            assert torch.cuda.current_stream() == side
            assert torch._C._cuda_getCurrentRawStream(0) == side.cuda_stream != 0
        assert torch.cuda.current_stream() == torch.cuda.default_stream()

    def test_one_of_another_device_makes_that_current(self):
        side = torch.cuda.Stream(1)
        with torch.cuda.stream(side):
            assert torch.cuda.current_device() == 1
            assert torch.cuda.current_stream() == side
            assert torch.ones(1, device="cuda").device == SECOND
        assert torch.cuda.current_device() == 0
        assert torch.cuda.current_stream(1) == torch.cuda.default_stream(1)

    def test_no_stream_changes_nothing(self):
        with torch.cuda.stream(None):
            assert torch.cuda.current_stream() == torch.cuda.default_stream()

    def test_a_stream_is_a_context_itself(self):
        side = torch.cuda.Stream()
        with side:
            assert torch.cuda.current_stream() == side
        assert torch.cuda.current_stream() != side

    def test_one_is_set(self):
        side = torch.cuda.Stream()
        torch.cuda.set_stream(side)
        assert torch.cuda.current_stream() == side

    def test_a_thread_begins_with_the_default_one(self):
        found = []
        with torch.cuda.stream(torch.cuda.Stream()):
            thread = threading.Thread(target=lambda: found.append(torch.cuda.current_stream()))
            thread.start()
            thread.join()
        assert found == [torch.cuda.default_stream()]

    def test_waiting_is_over_at_once(self):
        side = torch.cuda.Stream(priority=-1)
        with torch.cuda.stream(side):
            made = torch.ones(2, device="cuda") * 3
            done = side.record_event()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.current_stream().wait_event(done)
        side.synchronize()
        assert side.query()
        assert side.priority == -1
        assert made.tolist() == [3, 3]

    def test_one_of_another_library(self):
        outer = torch.cuda.ExternalStream(81920, device="cuda:1")
        assert (outer.cuda_stream, outer.device) == (81920, SECOND)
        assert torch.cuda.get_stream_from_external(81920, 1) == outer

    def test_they_are_streams_of_torch(self):
        assert isinstance(torch.cuda.Stream(), torch.Stream)
        assert not isinstance(torch.cuda.Event(), torch.Stream)
        plain = torch.Stream("cuda:1")
        assert plain.device == SECOND
        with plain:
            assert torch.accelerator.current_stream() == plain
        torch.accelerator.set_stream(plain)
        assert torch.cuda.current_device() == 1

    def test_a_device_that_is_not_there(self):
        with pytest.raises(torch.AcceleratorError, match="invalid device ordinal"):
            torch.cuda.Stream(2)

    def test_the_next_machine_has_default_streams(self):
        torch.cuda.set_stream(torch.cuda.Stream())
        with virtual_gpu(2):
            assert torch.cuda.current_stream() == torch.cuda.default_stream()

    def test_a_tensor_is_recorded(self):
        torch.ones(1, device="cuda").record_stream(torch.cuda.Stream())


class TestEvents:
    def test_the_time_between_two(self):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        end.record(torch.cuda.current_stream())
        end.synchronize()
        assert begin.query()
        assert begin.elapsed_time(end) == -end.elapsed_time(begin) >= 0

    def test_one_that_tells_no_time(self):
        begin, end = torch.cuda.Event(), torch.cuda.Event(enable_timing=True)
        begin.record()
        end.record()
        with pytest.raises(ValueError, match="created with argument 'enable_timing=True'"):
            begin.elapsed_time(end)

    def test_one_that_was_not_recorded(self):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        with pytest.raises(ValueError, match="Both events must be recorded"):
            begin.elapsed_time(end)

    def test_it_belongs_to_the_device_that_recorded_it(self):
        event = torch.cuda.Event()
        assert repr(event) == "<torch.cuda.Event uninitialized>"
        event.record(torch.cuda.current_stream(1))
        assert event.device == SECOND
        with pytest.raises(RuntimeError, match=r"device 1 does not match .* stream's device 0"):
            event.record()

    def test_a_stream_of_another_device_waits_for_it(self):
        torch.cuda.Stream(1).wait_event(torch.cuda.current_stream().record_event())

    def test_they_are_events_of_torch(self):
        assert isinstance(torch.cuda.Event(), torch.Event)
        plain = torch.Event(enable_timing=True)
        plain.record()
        plain.wait()
        assert plain.device == FIRST

    def test_one_is_not_shared_with_a_process(self):
        with pytest.raises(RuntimeError, match="does not model"):
            torch.cuda.Event(interprocess=True).ipc_handle()
