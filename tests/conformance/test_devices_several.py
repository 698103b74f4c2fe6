"""Several devices: each is as far from the others as from the CPU."""

import pytest
import torch
from torch import nn

from tests.conformance.given import CPU, GPU, SECOND, cpu, each, gpu, ids, places
from tests.conformance.texts import differs, elementwise, exact, refused

pytestmark = pytest.mark.usefixtures("two_devices")

TO_THE_SECOND = {
    'to("cuda:1")': lambda t: t.to("cuda:1"),
    "to(1)": lambda t: t.to(1),
    "to(device)": lambda t: t.to(torch.device("cuda", 1)),
    "cuda(1)": lambda t: t.cuda(1),
    'cuda(device="cuda:1")': lambda t: t.cuda(device="cuda:1"),
    "to, as another is": lambda t: t.to(gpu(1, on=SECOND)),
    "copy_": lambda t: torch.empty(2, device="cuda:1").copy_(t),
    "type_as": lambda t: t.type_as(gpu(1, on=SECOND)),
}


@each(TO_THE_SECOND)
@pytest.mark.parametrize("start", ["cpu", "cuda:0"])
def test_it_moves_to_the_second(row, start):
    moved = row(torch.tensor([1.0, 2.0], device=start))
    assert (moved.device, moved.tolist()) == (SECOND, [1.0, 2.0])


def test_the_second_says_so():
    tensor = torch.tensor([1.0], device="cuda:1")
    assert (tensor.get_device(), tensor.device.index, tensor.is_cuda) == (1, 1, True)
    assert repr(tensor) == "tensor([1.], device='cuda:1')"
    assert tensor.type() == "torch.cuda.FloatTensor"


def test_cuda_without_an_index_is_the_current_one():
    with torch.cuda.device(1):
        assert torch.zeros(1, device="cuda").device == SECOND
        assert cpu(1).cuda().device == SECOND
        assert cpu(1).to("cuda").device == SECOND
        assert gpu(1).to("cuda").device == SECOND
        assert nn.Linear(1, 1).cuda().weight.device == SECOND
    assert torch.zeros(1, device="cuda").device == GPU


def test_a_tensor_of_the_second_moves_to_the_current_one():
    assert gpu(1, on=SECOND).cuda().device == GPU
    assert gpu(1, on=SECOND).to("cuda").device == GPU


def test_what_is_computed_stays_where_it_is_whatever_is_current():
    tensor = gpu(2, 2, on=SECOND)
    with torch.cuda.device(0):
        assert places([tensor + 1, tensor @ tensor, torch.zeros_like(tensor)]) == {"cuda:1"}


REFUSED = {
    "+": (lambda: gpu(2) + gpu(2, on=SECOND), elementwise("cuda:0", "cuda:1")),
    "+, the other way": (lambda: gpu(2, on=SECOND) + gpu(2), elementwise("cuda:1", "cuda:0")),
    "+ and a number of no dimension": (
        lambda: gpu(2) + gpu(on=SECOND),
        elementwise("cuda:0", "cuda:1"),
    ),
    "@": (lambda: gpu(2, 2) @ gpu(2, 2, on=SECOND), exact("mat2", "cuda:1", "cuda:0", "mm")),
    "cat": (
        lambda: torch.cat([gpu(2), gpu(2, on=SECOND)]),
        exact("tensors", "cuda:1", "cuda:0", "cat"),
    ),
    "Linear": (
        lambda: nn.Linear(2, 2).cuda(1)(gpu(1, 2)),
        exact("mat1", "cuda:0", "cuda:1", "addmm"),
    ),
    "Embedding": (
        lambda: nn.Embedding(2, 2).cuda(1)(ids(0)),
        exact("index", "cuda:0", "cuda:1", "_index_select"),
    ),
    "BatchNorm1d": (
        lambda: nn.BatchNorm1d(2).cuda(1)(gpu(3, 2)),
        differs("weight", "cuda:1", "cuda:0"),
    ),
    "LSTM": (
        lambda: nn.LSTM(2, 2).cuda(1)(gpu(3, 1, 2)),
        "found input tensor at cuda:0 and parameter tensor at cuda:1",
    ),
    "an index": (
        lambda: gpu(2)[ids(0, on=SECOND)],
        "indices should be either on cpu or on the same device as the indexed tensor \\(cuda:0\\)",
    ),
    "a loss": (
        lambda: nn.functional.cross_entropy(gpu(1, 2), ids(0, on=SECOND)),
        exact("target", "cuda:1", "cuda:0", "nll_loss_forward"),
    ),
    "in place": (lambda: gpu(2).add_(gpu(2, on=SECOND)), elementwise("cuda:0", "cuda:1")),
}


@each(REFUSED)
def test_two_cuda_devices_are_refused(row):
    call, text = row
    refused(call, text)


def test_a_convolution_refuses_them_too():
    with pytest.raises(RuntimeError, match="same device"):
        nn.Conv2d(1, 1, 1).cuda(1)(gpu(1, 1, 2, 2))


def test_slices_cross():
    target = torch.zeros(2, device="cuda:1")
    target[0] = torch.tensor(3.0, device="cuda:0")
    assert (target.device, target.tolist()) == (SECOND, [3.0, 0.0])


class Split(nn.Module):
    """A model whose halves are on two devices."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 3).to("cuda:0"), nn.Linear(3, 1).to("cuda:1")

    def forward(self, x):
        return self.last(torch.relu(self.first(x.to("cuda:0"))).to("cuda:1"))


def test_gradients_cross_devices():
    model = Split()
    inputs = cpu(4, 2, grad=True)
    loss = model(inputs).pow(2).mean()
    loss.backward()
    assert loss.device == SECOND
    assert [p.grad.device for p in model.parameters()] == [GPU, GPU, SECOND, SECOND]
    assert inputs.grad.device == CPU


@pytest.mark.parametrize("foreach", [None, True, False])
def test_an_optimizer_steps_parameters_of_two_devices(foreach):
    model = Split()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=foreach)
    model(cpu(4, 2)).sum().backward()
    total = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    assert [p.device for p in model.parameters()] == [GPU, GPU, SECOND, SECOND]
    assert total.device == GPU
    assert {str(s["exp_avg"].device) for s in optimizer.state.values()} == {"cuda:0", "cuda:1"}


def test_targets_belong_beside_the_answers():
    refused(
        lambda: nn.functional.mse_loss(Split()(cpu(4, 2)), gpu(4, 1)),
        elementwise("cuda:1", "cuda:0"),
    )


def test_a_gradient_of_the_other_device_is_not_assigned():
    leaf = gpu(1, grad=True)

    def assign():
        leaf.grad = gpu(1, on=SECOND)

    refused(
        assign,
        "attempting to assign a gradient located on device with index '1' to a tensor located "
        "on device with index '0'",
    )


@each({"cuda:1": "cuda:1", "a device": SECOND, "a dictionary": {"cuda:0": "cuda:1"}})
def test_a_checkpoint_is_loaded_on_the_second(row, tmp_path):
    torch.save(gpu(2), tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt", map_location=row).device == SECOND


def test_a_checkpoint_of_the_second_comes_back_there(tmp_path):
    torch.save([gpu(2), gpu(2, on=SECOND)], tmp_path / "x.pt")
    assert [t.device for t in torch.load(tmp_path / "x.pt")] == [GPU, SECOND]


def test_random_numbers_of_each_are_seeded_together():
    torch.manual_seed(0)
    before = torch.rand(3, device="cuda:1")
    torch.manual_seed(0)
    assert torch.rand(3, device="cuda:1").tolist() == before.tolist()


def test_memory_is_counted_for_each():
    before = torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1)
    held = torch.empty(1024, device="cuda:1")
    assert torch.cuda.memory_allocated(0) == before[0]
    assert torch.cuda.memory_allocated(1) == before[1] + 4096
    del held
    assert torch.cuda.memory_allocated(1) == before[1]
