"""The memory of virtual devices: what is counted, and what does not fit."""

import pytest
import torch
from torch import nn

from runtime_guard import virtual_gpu


@pytest.fixture
def two():
    with virtual_gpu(2):
        yield


class TestCount:
    def test_bytes_of_what_lives(self, two):
        assert torch.cuda.memory_allocated() == 0
        one = torch.ones(100, device="cuda")
        other = torch.ones(3, dtype=torch.float64, device="cuda")
        assert torch.cuda.memory_allocated() == 424
        del one
        assert torch.cuda.memory_allocated("cuda:0") == 24
        del other
        assert torch.cuda.memory_allocated(0) == 0

    def test_each_device_has_its_own(self, two):
        kept = torch.ones(100, device="cuda:1")
        assert (torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1)) == (0, kept.nbytes)

    def test_what_lies_on_the_cpu_is_not_counted(self, two):
        kept = torch.ones(100)
        moved = kept.cuda()
        back = moved.cpu()
        assert torch.cuda.memory_allocated() == 400
        assert back.device == kept.device

    def test_views_are_counted_once(self, two):
        kept = torch.ones(100, device="cuda")
        views = [kept[1:], kept.view(10, 10), kept.detach(), kept.data]
        assert torch.cuda.memory_allocated() == 400
        del kept
        assert torch.cuda.memory_allocated() == 400
        views.clear()
        assert torch.cuda.memory_allocated() == 0

    def test_a_model(self, two):
        model = nn.Linear(10, 10).cuda()
        assert torch.cuda.memory_allocated() == 440
        model.cpu()
        assert torch.cuda.memory_allocated() == 0

    def test_gradients_that_nobody_read(self, two):
        model = nn.Linear(10, 10).cuda()
        model(torch.ones(1, 10, device="cuda")).sum().backward()
        assert torch.cuda.memory_allocated() == 880
        model.zero_grad(set_to_none=False)
        assert torch.cuda.memory_allocated() == 880
        model.zero_grad()
        assert torch.cuda.memory_allocated() == 440

    def test_gradients_that_are_accumulated(self, two):
        weight = torch.ones(100, device="cuda", requires_grad=True)
        for _ in range(3):
            (weight * 2).sum().backward()
        assert torch.cuda.memory_allocated() == 800

    def test_the_state_of_an_optimizer(self, two):
        model = nn.Linear(10, 10).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.ones(1, 10, device="cuda")).sum().backward()
        optimizer.step()
        assert torch.cuda.memory_allocated() == 4 * 440


class TestPeak:
    def test_it_stays_until_it_is_reset(self, two):
        kept = torch.ones(100, device="cuda")
        torch.ones(1000, device="cuda")
        assert torch.cuda.max_memory_allocated() == 4400
        torch.cuda.reset_peak_memory_stats()
        assert torch.cuda.max_memory_allocated() == kept.nbytes

    def test_what_is_reserved(self, two):
        large = torch.ones(2**20, device="cuda")
        assert torch.cuda.memory_reserved() == 4 * 1024**2
        del large
        assert torch.cuda.memory_reserved() == 4 * 1024**2
        torch.cuda.empty_cache()
        assert torch.cuda.memory_reserved() == 0
        assert torch.cuda.max_memory_reserved() == 4 * 1024**2


class TestWords:
    def test_statistics(self, two):
        kept = [torch.ones(100, device="cuda") for _ in range(2)]
        torch.ones(100, device="cuda")
        found = torch.cuda.memory_stats()
        assert found["allocation.all.current"] == len(kept)
        assert found["allocation.all.allocated"] == 3
        assert found["allocation.all.freed"] == 1
        assert found["allocated_bytes.all.current"] == 800
        assert found["allocated_bytes.all.peak"] == 1200
        assert found["num_ooms"] == 0

    def test_there_are_none_before_the_first_use(self, two):
        assert torch.cuda.memory_stats() == {}

    def test_a_summary(self, two):
        kept = torch.ones(2**18, device="cuda")
        assert kept.nbytes == 2**20
        assert "| Allocated memory      |   1024 KiB |   1024 KiB |" in torch.cuda.memory_summary()

    def test_what_is_free(self):
        with virtual_gpu(2, memory_gb=2):
            kept = torch.ones(2**20, device="cuda")
            assert torch.cuda.mem_get_info() == (2 * 1024**3 - kept.nbytes, 2 * 1024**3)
            assert torch.cuda.mem_get_info(1) == (2 * 1024**3, 2 * 1024**3)

    def test_processes(self, two):
        assert torch.cuda.list_gpu_processes() == "GPU:0\nno processes are running"
        kept = torch.ones(1, device="cuda")
        assert "uses        2.000 MB GPU memory" in torch.cuda.list_gpu_processes(kept.device)

    def test_bytes_that_no_tensor_holds(self, two):
        address = torch.cuda.caching_allocator_alloc(1000)
        assert torch.cuda.memory_allocated() == 1000
        torch.cuda.caching_allocator_delete(address)
        assert torch.cuda.memory_allocated() == 0


REFUSAL = (
    r"^CUDA out of memory\. Tried to allocate 4\.00 MiB\. GPU 0 has a total capacity of 1\.02 MiB "
    r"of which 1\.02 MiB is free\. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 "
    r"bytes is reserved by PyTorch but unallocated\. If reserved but unallocated memory is large"
)


class TestLimit:
    def test_what_does_not_fit_is_refused(self):
        with virtual_gpu(memory_gb=0.001):
            with pytest.raises(torch.cuda.OutOfMemoryError, match=REFUSAL):
                torch.ones(2**20, device="cuda")
            assert torch.cuda.memory_allocated() == 0
            assert torch.cuda.memory_stats()["num_ooms"] == 1
            assert torch.ones(100, device="cuda").sum() == 100

    def test_a_model_stops_at_the_parameter_that_does_not_fit(self):
        with virtual_gpu(memory_gb=0.001):
            model = nn.Sequential(*(nn.Linear(256, 256) for _ in range(5)))
            with pytest.raises(torch.OutOfMemoryError):
                model.to("cuda")
            places = [parameter.device.type for parameter in model.parameters()]
            assert places == ["cuda"] * 8 + ["cpu"] * 2
            assert torch.cuda.memory_allocated() == 4 * 263168
            del model
            assert torch.cuda.memory_allocated() == 0

    def test_gradients_do_not_fit_either(self):
        with virtual_gpu(memory_gb=0.001):
            weight = torch.ones(2**17, device="cuda", requires_grad=True)
            kept = torch.ones(2**16, device="cuda")
            loss = weight[: 2**10].sum() + kept[0]
            with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate 512"):
                loss.backward()

    def test_there_is_none_where_none_was_asked_for(self, two):
        assert torch.cuda.get_device_properties(0).total_memory == 80 * 1024**3

    def test_a_part_may_be_used(self):
        with virtual_gpu(memory_gb=1):
            torch.cuda.set_per_process_memory_fraction(0.001)
            assert torch.cuda.get_per_process_memory_fraction() == pytest.approx(0.001)
            with pytest.raises(torch.OutOfMemoryError, match=r"is free\. 1\.02 MiB allowed; Of"):
                torch.ones(2**20, device="cuda")
            torch.cuda.set_per_process_memory_fraction(1.0)
            assert torch.ones(2**20, device="cuda").numel() == 2**20

    @pytest.mark.parametrize(
        ("name", "kind", "text"),
        [
            ("mps", RuntimeError, r"^MPS backend out of memory \(MPS allocated: 0 bytes, "),
            ("xpu", torch.OutOfMemoryError, r"^XPU out of memory\. Tried to allocate 4\.00 MiB"),
        ],
    )
    def test_of_other_machines(self, name, kind, text):
        with virtual_gpu(1, name, memory_gb=0.001), pytest.raises(kind, match=text):
            torch.ones(2**20, device=name)
