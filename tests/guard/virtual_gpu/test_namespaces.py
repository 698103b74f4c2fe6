"""What programs call of torch.cuda, torch.accelerator, torch.xpu and torch.mps."""

import threading

import pytest
import torch

from runtime_guard import VirtualGpuWarning, virtual_gpu
from runtime_guard.virtual import notices
from runtime_guard.virtual.namespaces import builds

ORDINAL = "CUDA error: invalid device ordinal\nGPU device may be out of range"


@pytest.fixture
def two():
    with virtual_gpu(2):
        yield torch.cuda


@pytest.fixture(autouse=True)
def said_anew():
    notices.forget()
    yield
    notices.forget()


class TestSelection:
    def test_devices_are_there(self, two):
        assert two.is_available()
        assert two.device_count() == 2
        assert two.current_device() == 0
        assert torch.get_device_module("cuda") is two
        assert torch.get_device_module() is two

    @pytest.mark.parametrize("device", [1, "cuda:1", torch.device("cuda", 1)])
    def test_a_device_is_set_in_each_spelling(self, two, device):
        two.set_device(device)
        assert two.current_device() == 1
        assert torch.ones(1, device="cuda").device == torch.device("cuda:1")

    def test_a_negative_index_changes_nothing(self, two):
        two.set_device(-1)
        with two.device(-1), two.device(None):
            assert two.current_device() == 0

    def test_a_context_gives_the_former_device_back(self, two):
        def fail():
            with two.device("cuda:1"):
                assert two.current_device() == 1
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert two.current_device() == 0

    def test_the_device_of_a_tensor(self, two):
        with two.device_of(torch.ones(1, device="cuda:1")):
            assert two.current_device() == 1
        with two.device_of(torch.ones(1)):
            assert two.current_device() == 0

    def test_a_device_that_is_not_there(self, two):
        with pytest.raises(torch.AcceleratorError, match=ORDINAL):
            two.set_device(2)
        with pytest.raises(torch.AcceleratorError, match=ORDINAL), two.device(2):
            pass

    def test_a_thread_has_its_own(self, two):
        found = []
        two.set_device(1)
        thread = threading.Thread(target=lambda: found.append(two.current_device()))
        thread.start()
        thread.join()
        assert (found, two.current_device()) == ([0], 1)

    def test_a_device_must_be_named_as_one_of_cuda(self, two):
        with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
            two.set_device("cpu")

    def test_the_first_use_initialises(self, two):
        assert not two.is_initialized()
        torch.manual_seed(0)
        two.manual_seed_all(0)
        assert not two.is_initialized()
        torch.ones(1).cuda()
        assert two.is_initialized()


class TestProperties:
    def test_of_a_device(self):
        with virtual_gpu(2, memory_gb=16):
            found = torch.cuda.get_device_properties(1)
            assert found.name == torch.cuda.get_device_name() == "Virtual GPU"
            assert found.total_memory == 16 * 1024**3
            assert (found.major, found.minor) == torch.cuda.get_device_capability("cuda:1")
            assert found.multi_processor_count == 108
            assert str(found.uuid) == "00000000-0000-0000-0000-000000000001"
            assert isinstance(found, torch.cuda._CudaDeviceProperties)

    def test_they_are_kept(self, two):
        with pytest.raises(AttributeError):
            two.get_device_properties().name = "mine"

    def test_of_a_device_that_is_not_there(self, two):
        with pytest.raises(AssertionError, match="Invalid device id"):
            two.get_device_properties(2)

    def test_what_is_supported(self, two):
        assert two.is_bf16_supported()
        assert two.is_tf32_supported()
        assert two.can_device_access_peer(0, 1)
        assert not two.can_device_access_peer(0, 0)
        assert "sm_80" in two.get_arch_list()
        assert "code=sm_80" in two.get_gencode_flags()


class TestBuild:
    def test_of_cuda(self, two):
        assert torch.version.cuda == "12.6"
        assert torch.backends.cuda.is_built()
        assert torch.backends.cudnn.is_available()
        assert torch.backends.cudnn.version() == 91002
        assert not torch.backends.mps.is_built()

    def test_of_the_cuda_that_is_asked_for(self):
        with virtual_gpu(cuda="11.8"):
            assert torch.version.cuda == "11.8"
            assert torch._C._cuda_getCompiledVersion() == 11080
        with pytest.raises(ValueError, match="cuda is '11': expected a version of CUDA"):
            virtual_gpu(cuda="11")

    def test_of_the_capability_that_is_asked_for(self):
        with virtual_gpu(2):
            assert torch.cuda.get_device_capability() == (8, 0)
            with virtual_gpu(capability="9.0"):
                assert torch.cuda.get_device_capability() == (9, 0)
                assert torch.cuda.get_device_properties(0).major == 9
            assert torch.cuda.get_device_capability(1) == (8, 0)
        with pytest.raises(ValueError, match="capability is '9': expected a compute capability"):
            virtual_gpu(capability="9")

    def test_of_the_cuda_of_what_is_installed_beside_it(self, tmp_path, monkeypatch):
        package = tmp_path / "torchaudio"
        package.mkdir()
        (package / "__init__.py").write_text("raise ImportError('never imported')\n")
        (package / "version.py").write_text("__version__ = '2.13.0+cu130'\n")
        monkeypatch.syspath_prepend(tmp_path)
        builds.of_companions.cache_clear()
        with virtual_gpu():
            assert torch.version.cuda == "13.0"
        builds.of_companions.cache_clear()

    def test_flags_can_be_set(self, two):
        with torch.backends.cudnn.flags(enabled=True, benchmark=True, deterministic=True):
            assert torch.backends.cudnn.benchmark
        former = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = True
        assert torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = former
        torch.backends.cuda.cufft_plan_cache.max_size = 7
        assert torch.backends.cuda.cufft_plan_cache.max_size == 7
        torch.backends.cuda.cufft_plan_cache.clear()

    def test_outside_of_a_block(self):
        with virtual_gpu():
            pass
        assert torch.version.cuda is None
        assert not torch.backends.cuda.is_built()
        assert not torch.cuda.is_available()


class TestOthers:
    def test_ranges_and_the_profiler(self, two):
        assert two.nvtx.range_push("outer") == two.nvtx.range_pop() == -2
        with two.nvtx.range("step"), two.profiler.profile():
            two.nvtx.mark("now")

    def test_sensors_are_made_up_and_say_so(self, two):
        with pytest.warns(VirtualGpuWarning, match="figure of an idle device") as said:
            assert two.temperature() == 40
        assert said[0].filename == __file__
        assert two.temperature() == 40

    def test_graphs_run_at_once_and_are_not_replayed(self, two):
        graph, static = two.CUDAGraph(), torch.ones(2, device="cuda")
        with (
            pytest.warns(VirtualGpuWarning, match="CUDA graphs are not modelled"),
            two.graph(graph),
        ):
            static += 1
        assert static.tolist() == [2, 2]
        assert not two.is_current_stream_capturing()
        with pytest.raises(RuntimeError, match="does not model CUDA graphs"):
            graph.replay()

    def test_graphed_callables_stay_as_they_are(self, two):
        layer = torch.nn.Linear(2, 2)
        with pytest.warns(VirtualGpuWarning, match="CUDA graphs"):
            assert two.make_graphed_callables(layer, (torch.ones(1, 2),)) is layer

    def test_what_is_refused_says_so(self, two):
        with pytest.raises(RuntimeError, match=r"does not model torch\.cuda\.nccl\.broadcast"):
            two.nccl.broadcast([torch.ones(1, device="cuda")])
        assert two.nccl.version()[0] == 2

    def test_old_types_make_tensors(self, two):
        made = two.FloatTensor(2, 3)
        assert (made.shape, made.device, made.dtype) == (
            (2, 3),
            torch.device("cuda:0"),
            torch.float32,
        )
        assert two.LongTensor([1, 2]).tolist() == [1, 2]
        assert torch.ones(2).type(two.DoubleTensor).type() == "torch.cuda.DoubleTensor"
        assert isinstance(made, two.FloatTensor)
        assert not isinstance(made, two.DoubleTensor)
        assert not isinstance(made.cpu(), two.FloatTensor)
        assert not isinstance(made, torch.FloatTensor)
        assert isinstance(torch.FloatTensor([1.0]), torch.FloatTensor)
        assert made.type(torch.FloatTensor).device == torch.device("cpu")
        assert made.type(torch.DoubleTensor).dtype == torch.DoubleTensor.dtype == torch.float64

    @pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
    def test_an_old_type_can_be_the_default(self, two):
        torch.set_default_tensor_type("torch.cuda.DoubleTensor")
        made = torch.zeros(1)
        torch.set_default_tensor_type(torch.FloatTensor)
        assert (made.device.type, made.dtype) == ("cuda", torch.float64)
        assert (torch.zeros(1).device.type, torch.zeros(1).dtype) == ("cpu", torch.float32)


class TestMachines:
    def test_the_inner_one_is_found(self, two):
        two.set_device(1)
        with virtual_gpu(3):
            assert (two.device_count(), two.current_device()) == (3, 0)
        assert (two.device_count(), two.current_device()) == (2, 1)

    def test_one_of_another_name_has_no_cuda(self, two):
        with virtual_gpu(1, "mps"):
            assert not two.is_available()
            assert two.device_count() == 0
            with pytest.raises(AssertionError, match="not compiled with CUDA"):
                two.current_device()

    @pytest.mark.parametrize(("name", "count"), [("cuda", 2), ("xpu", 2), ("mps", 1)])
    def test_the_accelerator(self, name, count):
        with virtual_gpu(count, name, memory_gb=1):
            accelerator = torch.accelerator
            assert accelerator.is_available()
            assert accelerator.current_accelerator() == torch.device(name)
            assert accelerator.device_count() == count
            accelerator.set_device_index(count - 1)
            assert accelerator.current_device_index() == count - 1
            with accelerator.device_index(0):
                assert accelerator.current_device_index() == 0
            accelerator.synchronize()
            kept = torch.ones(3, device=f"{name}:{count - 1}")
            assert accelerator.memory_allocated() == accelerator.max_memory_allocated() == 12
            assert accelerator.get_memory_info()[1] == 1024**3
            assert accelerator.current_stream().device == kept.device
            assert torch.float32 in accelerator.get_device_capability()["supported_dtypes"]
        assert accelerator.current_accelerator() is None

    def test_xpu(self):
        with virtual_gpu(2, "xpu"):
            xpu = torch.xpu
            assert (xpu.is_available(), xpu.device_count(), xpu.current_device()) == (True, 2, 0)
            assert xpu.get_device_name(1) == "Virtual GPU"
            assert xpu.get_device_capability()["has_fp16"]
            with xpu.device(1), xpu.stream(xpu.Stream()):
                kept = torch.ones(1, device="xpu")
            assert kept.device == torch.device("xpu:1")
            assert xpu.memory_allocated(1) == 4
            xpu.synchronize()
            xpu.empty_cache()
        assert not xpu.is_available()

    def test_mps(self):
        with virtual_gpu(1, "mps", memory_gb=1):
            mps = torch.mps
            assert torch.backends.mps.is_available()
            assert torch.backends.mps.is_built()
            assert mps.device_count() == 1
            kept = torch.ones(2, device="mps")
            assert mps.current_allocated_memory() == kept.nbytes
            assert mps.recommended_max_memory() == 1024**3
            begin, end = mps.Event(enable_timing=True), mps.Event(enable_timing=True)
            begin.record()
            end.record()
            assert begin.elapsed_time(end) >= 0
            mps.synchronize()
            mps.empty_cache()
        assert not torch.backends.mps.is_available()


def test_choosing_a_device_is_a_use_of_it_and_counting_devices_is_none():
    with virtual_gpu(2):
        torch.cuda.device_count()
        assert not torch.cuda.is_initialized()
        torch.cuda.set_device(1)
        assert torch.cuda.is_initialized()
    assert not torch.cuda.is_initialized()


@pytest.mark.parametrize("move", ["to", "make", "cast"])
def test_mps_holds_no_doubles(move):
    moves = {
        "to": lambda: torch.ones(2, dtype=torch.float64).to("mps"),
        "make": lambda: torch.ones(2, dtype=torch.float64, device="mps"),
        "cast": lambda: torch.ones(2, device="mps").double(),
    }
    with virtual_gpu(name="mps"), pytest.raises(TypeError, match="MPS framework doesn't support"):
        moves[move]()


def test_cuda_holds_doubles():
    with virtual_gpu():
        assert torch.ones(2, dtype=torch.float64, device="cuda").dtype is torch.float64
