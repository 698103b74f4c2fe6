"""Several devices: DataParallel and what it is made of."""

import pytest
import torch
from torch import nn
from torch.nn import parallel
from torch.nn.parallel import comm

from tests.conformance.given import GPU, SECOND, cpu, gpu, places
from tests.conformance.texts import refused

pytestmark = pytest.mark.filterwarnings("ignore:There is an imbalance between your GPUs")


class Where(nn.Module):
    """Answers, for each row, on which device it was seen."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x):
        self.layer(x)
        return torch.full((len(x),), x.get_device(), device=x.device)


def test_one_device_takes_cpu_input():
    model = nn.DataParallel(nn.Linear(2, 1).cuda(), device_ids=[0])
    assert model(cpu(4, 2)).device == GPU


def test_one_device_and_keyword_arguments():
    model = nn.DataParallel(nn.Linear(2, 1).cuda(), device_ids=[0])
    assert model(input=cpu(4, 2)).device == GPU


def test_one_device_gets_the_module_itself():
    layer = nn.Linear(2, 1)
    nn.DataParallel(layer, device_ids=[0])
    assert layer.weight.device == GPU


def test_its_state_is_named_after_the_module():
    model = nn.DataParallel(nn.Linear(2, 1).cuda())
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    assert places(model.state_dict()) == {"cuda:0"}


def test_its_parameters_are_the_modules():
    layer = nn.Linear(2, 1)
    model = nn.DataParallel(layer).cuda()
    assert model.module is layer
    assert layer.weight.device == GPU


@pytest.mark.usefixtures("two_devices")
class TestTwoDevices:
    def test_rows_are_spread_and_gathered_on_the_first(self):
        answer = nn.DataParallel(Where().cuda())(cpu(4, 2))
        assert (answer.device, answer.tolist()) == (GPU, [0, 0, 1, 1])

    def test_the_module_must_be_on_the_first_device(self):
        refused(
            lambda: nn.DataParallel(nn.Linear(2, 1))(cpu(4, 2)),
            "module must have its parameters and buffers on device cuda:0 \\(device_ids\\[0\\]\\) "
            "but found one of them on device: cpu",
        )

    def test_they_may_be_gathered_elsewhere(self):
        model = nn.DataParallel(Where().cuda(), device_ids=[0, 1], output_device=1)
        assert model(cpu(4, 2)).device == SECOND

    def test_fewer_rows_than_devices(self):
        assert nn.DataParallel(Where().cuda())(cpu(1, 2)).tolist() == [0]

    def test_gradients_come_together(self):
        torch.manual_seed(0)
        layer = nn.Linear(2, 1).cuda()
        inputs = gpu(4, 2)
        layer(inputs).sum().backward()
        alone, layer.weight.grad = layer.weight.grad, None
        nn.DataParallel(layer)(inputs).sum().backward()
        assert layer.weight.grad.device == GPU
        torch.testing.assert_close(layer.weight.grad, alone)

    def test_the_answer_is_that_of_one_device(self):
        model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)).cuda()
        inputs = gpu(5, 2)
        torch.testing.assert_close(nn.DataParallel(model)(inputs), model(inputs))

    def test_a_training_step(self):
        model = nn.DataParallel(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).cuda())
        optimizer = torch.optim.Adam(model.parameters())
        model(cpu(8, 2)).sum().backward()
        optimizer.step()
        assert places([list(model.parameters()), list(model.buffers())]) == {"cuda:0"}

    def test_scatter_and_gather(self):
        parts = parallel.scatter(cpu(4, 2), [0, 1])
        assert [(part.device, len(part)) for part in parts] == [(GPU, 2), (SECOND, 2)]
        assert parallel.gather(list(parts), 1).device == SECOND

    def test_scatter_of_a_dictionary(self):
        parts = parallel.scatter({"x": cpu(4), "k": 1}, [0, 1])
        assert [part["x"].device for part in parts] == [GPU, SECOND]
        assert [part["k"] for part in parts] == [1, 1]

    def test_replicas(self):
        replicas = parallel.replicate(nn.Linear(2, 1).cuda(), [0, 1])
        assert [replica.weight.device for replica in replicas] == [GPU, SECOND]

    def test_replicas_run_side_by_side(self):
        replicas = parallel.replicate(nn.Linear(2, 1).cuda(), [0, 1])
        answers = parallel.parallel_apply(replicas, [(gpu(2, 2),), (gpu(2, 2, on=SECOND),)])
        assert [answer.device for answer in answers] == [GPU, SECOND]

    def test_an_error_of_a_replica_reaches_us(self):
        class Failing(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(2, 1)

            def forward(self, x):
                return self.layer(x) + torch.ones(1, 1)

        refused(
            lambda: nn.DataParallel(Failing().cuda())(cpu(4, 2)),
            "Caught RuntimeError in replica 0 on device 0",
        )

    def test_broadcast_and_sum(self):
        copies = comm.broadcast(gpu(2), [0, 1])
        assert [copy.device for copy in copies] == [GPU, SECOND]
        total = comm.reduce_add(copies, 1)
        assert total.device == SECOND
        assert total.tolist() == (copies[1] * 2).tolist()
