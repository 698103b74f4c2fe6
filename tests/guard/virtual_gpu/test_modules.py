"""Torch's own modules and optimizers train on the virtual GPU as they do on the CPU.

The samples are those of torch's test suite. Whatever they make is the CPU's to the last bit, and
lies on the device; no device error is raised.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn, optim
from torch.nn.functional import linear
from torch.optim.optimizer import _default_to_fused_or_foreach
from torch.testing._internal.common_modules import ModuleInfo, module_db
from torch.testing._internal.common_optimizers import (
    OptimizerInfo,
    _get_optim_inputs_including_global_cliquey_kwargs,
    optim_db,
)
from torch.utils._pytree import tree_leaves

from runtime_guard import virtual_gpu

GPU = torch.device("cuda:0")
CPU = torch.device("cpu")

# What these samples are warned of on any device.
pytestmark = [
    pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss"),
    pytest.mark.filterwarnings("ignore:linear_cross_entropy. ``options`` ignored"),
    pytest.mark.filterwarnings("ignore:enable_nested_tensor is True"),
    pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN"),
    pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True to a scalar"),
]


@pytest.fixture(autouse=True)
def one_thread():
    """These tensors are small: threads would wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Made(NamedTuple):
    """A tensor that a sample made: what it is, and where it lies."""

    name: str
    device: torch.device
    content: bytes | None

    @classmethod
    def of(cls, name: str, tensor: Tensor | None) -> Made:
        if tensor is None:
            return cls(name, torch.device("meta"), None)
        content = tensor.detach().cpu().contiguous()
        return cls(name, tensor.device, content.numpy().tobytes())


def contents(made: list[Made]) -> list[tuple[str, bytes | None]]:
    return [(one.name, one.content) for one in made]


def places(made: list[Made]) -> set[torch.device]:
    return {one.device for one in made if one.content is not None}


# Modules.


def tensors_in(values: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]


def trained(info: ModuleInfo, device: torch.device, training: bool) -> Iterator[list[Made]]:
    """What each sample of a module makes: outputs, gradients, and its state."""
    torch.manual_seed(0)
    samples = info.module_inputs_func(
        info, device=device, dtype=torch.float32, requires_grad=True, training=training
    )
    for sample in samples:
        torch.manual_seed(1)
        module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
        module.to(device, torch.float32).train(training)
        given = (sample.forward_input.args, sample.forward_input.kwargs)
        outputs = tensors_in(module(*given[0], **given[1]))
        differentiable = [output for output in outputs if output.requires_grad]
        torch.autograd.backward(differentiable, [torch.ones_like(one) for one in differentiable])
        inputs = [leaf for leaf in tensors_in(given) if leaf.requires_grad and leaf.is_leaf]
        yield [
            *(Made.of(f"output {place}", one) for place, one in enumerate(outputs)),
            *(Made.of(f"input {place}", one.grad) for place, one in enumerate(inputs)),
            *(Made.of(f"gradient of {name}", one.grad) for name, one in module.named_parameters()),
            *(Made.of(name, one) for name, one in module.state_dict().items()),
        ]


CASES = [
    pytest.param(info, training, id=f"{info.name}-{'train' if training else 'eval'}")
    for info in module_db
    for training in ((True, False) if info.train_and_eval_differ else (True,))
]


@pytest.mark.parametrize(("info", "training"), CASES)
def test_a_module_gives_what_it_gives_on_the_cpu(info, training):
    expected = list(trained(info, CPU, training))
    assert expected
    with virtual_gpu():
        found = list(trained(info, GPU, training))
        assert set().union(*map(places, found)) == {GPU}
    assert list(map(contents, found)) == list(map(contents, expected))


def test_there_are_as_many_samples_as_the_test_suite_has():
    """A database that yields nothing would let everything pass."""
    assert len(module_db) > 100
    assert len(CASES) > len(module_db)


# Optimizers.


def network(info: OptimizerInfo, device: torch.device) -> tuple[nn.Module, Tensor]:
    """What an optimizer can train, and a batch for it."""
    torch.manual_seed(0)
    if info.only_supports_sparse_grads:
        module = nn.EmbeddingBag(8, 5, sparse=True, mode="sum")
        return module.to(device), torch.randint(0, 8, (4, 3)).to(device)
    has_bias = info.name != "Muon"  # It takes matrices alone.
    module = nn.Sequential(nn.Linear(4, 6, has_bias), nn.Tanh(), nn.Linear(6, 3, has_bias))
    return module.to(device), torch.randn(5, 4).to(device)


def optimized(info: OptimizerInfo, settings: dict[str, Any], device: torch.device) -> list[Made]:
    """The losses of three steps, and the weights and the state after them."""
    module, batch = network(info, device)
    optimizer = info.optim_cls(module.parameters(), **copy.deepcopy(settings))
    losses: list[Tensor] = []

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss: Tensor = module(batch).square().sum()
        loss.backward()
        losses.append(loss)
        return loss

    for _ in range(3):
        optimizer.step(closure)
    return [
        *(Made.of(f"loss {step}", loss) for step, loss in enumerate(losses)),
        *(Made.of(name, weight) for name, weight in module.named_parameters()),
    ]


def differentiated(
    info: OptimizerInfo, settings: dict[str, Any], device: torch.device
) -> list[Made]:
    """The gradients of weights through two steps that trained copies of them."""
    module, batch = network(info, device)
    weights = list(module.parameters())
    copies = [weight.clone() for weight in weights]
    optimizer = info.optim_cls(copies, **copy.deepcopy(settings))
    for _ in range(2):
        gradients = torch.autograd.grad(loss(batch, copies), copies)
        for one, gradient in zip(copies, gradients, strict=True):
            one.grad = gradient
        optimizer.step()
    return [Made.of("", one) for one in torch.autograd.grad(loss(batch, copies), weights)]


def loss(batch: Tensor, weights: list[Tensor]) -> Tensor:
    return linear(torch.tanh(linear(batch, *weights[:2])), *weights[2:]).square().sum()


@pytest.fixture
def capturable_on_the_cpu(monkeypatch):
    """So that what CUDA alone can capture has something to be compared with."""
    name = "_get_capturable_supported_devices"
    for module in [sys.modules[each] for each in sys.modules if each.startswith("torch.optim")]:
        if hasattr(module, name):
            monkeypatch.setattr(module, name, lambda supports_xla=True: ["cpu", "cuda"])


def settings_of(info: OptimizerInfo) -> list[dict[str, Any]]:
    """Every configuration that the test suite has for CUDA."""
    with virtual_gpu():
        inputs = _get_optim_inputs_including_global_cliquey_kwargs(GPU, torch.float32, info)
    return [each.kwargs for each in inputs]


@pytest.mark.parametrize("info", optim_db, ids=lambda info: info.name)
def test_an_optimizer_trains_as_on_the_cpu(info, capturable_on_the_cpu):
    for settings in settings_of(info):
        train = differentiated if settings.get("differentiable") else optimized
        expected = outcome(train, info, settings, CPU)
        with virtual_gpu():
            found = outcome(train, info, settings, GPU)
        if isinstance(expected, str) or isinstance(found, str):
            assert found == expected, settings
        else:
            assert contents(found) == contents(expected), settings
            assert places(found) == {GPU}, settings


def outcome(train: Any, *args: Any) -> list[Made] | str:
    """What training made, or why torch cannot go back through such steps on any device."""
    try:
        made: list[Made] = train(*args)
    except RuntimeError as error:
        return str(error)
    return made


def test_torch_chooses_the_implementation_that_it_chooses_on_cuda():
    with virtual_gpu():
        weight = nn.Parameter(torch.ones(2, device="cuda"))
        chosen = _default_to_fused_or_foreach([weight], False)
    assert chosen == (False, True)


@pytest.mark.parametrize(
    ("dtype", "before", "foreach", "said"),
    [
        (torch.float32, "cuda:1", None, "Tensors of the same index"),
        (torch.bfloat16, "cpu", None, "Tensors of the same index"),
        # A float32 on the CPU may be a number of steps, so that the grouping lets it pass.
        (torch.float32, "cpu", None, "at least two devices, cuda:0 and cpu"),
        (torch.bfloat16, "cpu", False, "at least two devices, cuda:0 and cpu"),
    ],
)
def test_a_state_that_stayed_behind_is_refused_in_torchs_words(dtype, before, foreach, said):
    with virtual_gpu(2):
        model = nn.Linear(4, 2).to(before, dtype)
        optimizer = optim.Adam(model.parameters(), foreach=foreach)
        model(torch.ones(1, 4, device=before, dtype=dtype)).sum().backward()
        optimizer.step()
        model.to("cuda:0")
        with pytest.raises(RuntimeError, match=said):
            optimizer.step()


def test_states_in_bfloat16_and_steps_on_the_cpu_go_with_their_parameters():
    with virtual_gpu():
        weight = torch.ones(2, device="cuda")
        lists = [[weight], [weight.bfloat16()], [torch.tensor(1.0)], []]
        (group,) = torch._C._group_tensors_by_device_and_dtype(lists, True).values()
        assert group == ([*lists[:3], []], [0])
