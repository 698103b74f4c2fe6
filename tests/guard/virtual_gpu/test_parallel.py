"""DataParallel, and the copies that it is built on."""

import pytest
import torch
from torch.nn.parallel import comm, gather, replicate, scatter

from runtime_guard import virtual_gpu


@pytest.fixture(autouse=True)
def two_gpus():
    with virtual_gpu(2) as gpus:
        yield gpus


def devices(tensors):
    return [str(tensor.device) for tensor in tensors]


def test_tensors_are_scattered_and_gathered():
    parts = comm.scatter(torch.arange(3.0), [0, 1])
    assert devices(parts) == ["cuda:0", "cuda:1"]
    assert [part.tolist() for part in parts] == [[0.0, 1.0], [2.0]]
    assert devices(comm.scatter(torch.ones(4), [1, 0], [1, 3])) == ["cuda:1", "cuda:0"]
    whole = comm.gather(parts, destination=1)
    assert (str(whole.device), whole.tolist()) == ("cuda:1", [0.0, 1.0, 2.0])
    assert str(comm.gather(parts, destination="cpu").device) == "cpu"
    assert str(comm.gather(parts).device) == "cuda:0"


def test_tensors_are_broadcast_and_summed():
    own = torch.ones(2, device="cuda:0")
    copies = comm.broadcast(own, [0, 1])
    assert devices(copies) == ["cuda:0", "cuda:1"]
    assert copies[0].data_ptr() == own.data_ptr()
    assert copies[1].data_ptr() != own.data_ptr()
    total = comm.reduce_add(copies, 1)
    assert (str(total.device), total.tolist()) == ("cuda:1", [2.0, 2.0])
    several = comm.broadcast_coalesced([own, own * 2], [0, 1])
    assert [devices(each) for each in several] == [["cuda:0"] * 2, ["cuda:1"] * 2]
    added = comm.reduce_add_coalesced(several, 0)
    assert devices(added) == ["cuda:0", "cuda:0"]
    assert [each.tolist() for each in added] == [[2.0, 2.0], [4.0, 4.0]]


def test_what_is_given_out_is_filled():
    outs = [torch.zeros(2, device=f"cuda:{index}") for index in range(2)]
    comm.broadcast(torch.ones(2, device="cuda"), out=outs)
    assert [out.tolist() for out in outs] == [[1.0, 1.0]] * 2
    comm.scatter(torch.arange(4.0), out=outs)
    assert [out.tolist() for out in outs] == [[0.0, 1.0], [2.0, 3.0]]
    into = torch.zeros(4, device="cuda:1")
    comm.gather(outs, out=into)
    assert into.tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.filterwarnings("ignore:Using -1 to represent CPU tensor is deprecated")
def test_gradients_come_back_through_the_copies():
    source = torch.ones(4, requires_grad=True)
    parts = scatter((source,), [0, 1])
    joined = gather([part[0] * (index + 1) for index, part in enumerate(parts)], 0)
    assert str(joined.device) == "cuda:0"
    joined.sum().backward()
    assert str(source.grad.device) == "cpu"
    assert source.grad.tolist() == [1.0, 1.0, 2.0, 2.0]


def test_replicas_live_on_their_devices():
    module = torch.nn.BatchNorm1d(2).cuda()
    replicas = replicate(module, [0, 1])
    assert [str(replica.weight.device) for replica in replicas] == ["cuda:0", "cuda:1"]
    assert [str(replica.running_mean.device) for replica in replicas] == ["cuda:0", "cuda:1"]


class Net(torch.nn.Module):
    """Notes where its replicas run."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.register_buffer("scale", torch.ones(2))
        self.seen = []

    def forward(self, x, factor=1.0):
        self.seen.append((str(x.device), torch.cuda.current_device(), len(x)))
        made = torch.arange(2, device="cuda")
        assert made.device == x.device
        return self.layer(x) * self.scale * factor + made


def test_a_model_trains_in_parallel_as_it_does_alone():
    torch.manual_seed(0)
    net = Net()
    batch = torch.randn(5, 3)
    plain = torch.nn.functional.linear(batch, net.layer.weight, net.layer.bias)
    (plain + torch.arange(2)).square().sum().backward()
    expected = net.layer.weight.grad.clone()
    net.zero_grad()

    parallel = torch.nn.DataParallel(net.cuda())
    out = parallel(batch, factor=1.0)
    assert (str(out.device), out.shape) == ("cuda:0", (5, 2))
    assert sorted(net.seen) == [("cuda:0", 0, 3), ("cuda:1", 1, 2)]
    out.square().sum().backward()
    assert str(net.layer.weight.grad.device) == "cuda:0"
    assert torch.allclose(net.layer.weight.grad.cpu(), expected)
    torch.optim.SGD(parallel.parameters(), lr=0.1, momentum=0.9).step()
    assert str(net.layer.weight.device) == "cuda:0"


def test_a_model_on_the_cpu_is_refused():
    parallel = torch.nn.DataParallel(torch.nn.Linear(2, 2))
    with pytest.raises(
        RuntimeError,
        match=r"module must have its parameters and buffers on device cuda:0 \(device_ids\[0\]\) "
        r"but found one of them on device: cpu",
    ):
        parallel(torch.ones(2, 2))


def test_a_mistake_in_a_replica_is_raised_with_cudas_text():
    class Wrong(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))
            self.offset = torch.ones(2)

        def forward(self, x):
            return x * self.weight + self.offset

    with pytest.raises(
        RuntimeError,
        match="Expected all tensors to be on the same device, but found at least two devices, "
        "cuda:0 and cpu!",
    ):
        torch.nn.DataParallel(Wrong().cuda())(torch.ones(2, 2))


def test_one_device_runs_the_model_itself():
    net = Net().cuda()
    assert str(torch.nn.DataParallel(net, device_ids=[0])(torch.ones(2, 3)).device) == "cuda:0"
    assert net.seen == [("cuda:0", 0, 2)]
    onto = torch.nn.DataParallel(Net().to("cuda:1"), device_ids=[1, 0], output_device=0)
    assert str(onto(torch.ones(2, 3)).device) == "cuda:0"


def test_a_machine_with_more_devices_has_streams_for_all_of_them():
    for count in (1, 3, 2):
        with virtual_gpu(count):
            model = torch.nn.DataParallel(torch.nn.Linear(4, 2).cuda())
            assert model(torch.ones(4, 4)).shape == (4, 2)
