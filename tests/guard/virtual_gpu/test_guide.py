"""The guide of the virtual GPU: its examples run, and its comparison is measured."""

import re
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional

from runtime_guard import virtual_gpu
from runtime_guard.virtual.namespaces.unmodelled import UNMODELLED
from tests.guard.test_guide import assert_shows_what_is_said

GUIDE = Path(__file__).parents[3] / "docs" / "virtual_gpu.md"
ABOUT_DEVICES = re.compile(
    r"device|numpy\. Use Tensor\.cpu\(\)|Input type .* and weight type|CPU int64 tensor"
)


def train(device):
    model = nn.Linear(3, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model(torch.ones(4, 3, device=device)).sum().backward()
    optimizer.step()


MISTAKES = {
    "a batch that was not moved": lambda to: nn.Linear(3, 2).to(to)(torch.ones(4, 3)),
    "…of a convolution": lambda to: nn.Conv2d(1, 1, 2).to(to)(torch.ones(1, 1, 4, 4)),
    "…of an LSTM": lambda to: nn.LSTM(3, 2).to(to)(torch.ones(4, 1, 3)),
    "…of an embedding": lambda to: nn.Embedding(3, 2).to(to)(torch.tensor([1])),
    "a target": lambda to: functional.cross_entropy(
        torch.ones(2, 3, device=to), torch.tensor([0, 1])
    ),
    "class weights": lambda to: functional.cross_entropy(
        torch.ones(2, 3, device=to), torch.tensor([0, 1], device=to), weight=torch.ones(3)
    ),
    "a mask": lambda to: torch.ones(3, device=to).masked_fill(torch.ones(3) > 0, 0.0),
    "`a + b`": lambda to: torch.ones(3, device=to) + torch.ones(3),
    "a running sum on the CPU": lambda to: torch.zeros(()).add_(torch.ones(3, device=to).sum()),
    "a GPU index into a CPU tensor": lambda to: torch.ones(3)[torch.tensor([0], device=to)],
    "`.numpy()` without `.cpu()`": lambda to: torch.ones(3, device=to).numpy(),
    "lengths of sequences on the GPU": lambda to: nn.utils.rnn.pack_padded_sequence(
        torch.ones(2, 1, 3, device=to), torch.tensor([2], device=to)
    ),
    "a generator of the CPU": lambda to: torch.rand(3, device=to, generator=torch.Generator()),
    "a gradient from the CPU": lambda to: setattr(
        torch.ones(3, device=to, requires_grad=True), "grad", torch.ones(3)
    ),
}
LINES = {
    "a training step": train,
    '`model.to("cuda")`': lambda to: nn.Linear(3, 2).to(to.partition(":")[0]),
    "a 0-dim CPU tensor in arithmetic": lambda to: torch.ones(3, device=to) * torch.tensor(2.0),
    "a CPU index into a GPU tensor": lambda to: torch.ones(3, device=to)[torch.tensor([0])],
    "a slice set from the CPU": lambda to: torch.ones(3, device=to).__setitem__(
        slice(2), torch.zeros(2)
    ),
    "`loss.item()`": lambda to: torch.ones(3, device=to).sum().item(),
    "what a mask chooses": lambda to: torch.ones(3, device=to)[torch.ones(3, device=to) > 0],
    "`x.cpu().numpy()`": lambda to: torch.ones(3, device=to).cpu().numpy(),
    "`print(x)`": lambda to: repr(torch.ones(3, device=to)),
}
TOOLS = {
    "virtual GPU": (virtual_gpu, "cuda"),
    "`meta`": (lambda: torch.random.fork_rng(devices=()), "meta"),
    "FakeTensorMode": (FakeTensorMode, "cuda:0"),
}


def outcome(line, tool):
    enter, device = TOOLS[tool]
    try:
        with warnings.catch_warnings(), enter():
            warnings.simplefilter("ignore")
            line(device)
    except (RuntimeError, TypeError) as error:
        return "caught" if ABOUT_DEVICES.search(str(error)) else "stopped"
    return "ran"


def row(name, line, on_cuda, words):
    cells = [words.get(outcome(line, tool), "stopped") for tool in TOOLS]
    return f"| {name} | {' | '.join([*cells, on_cuda])} |"


def measured():
    caught = {"caught": "caught", "ran": "missed"}
    runs = {"ran": "runs"}
    mistakes = [row(name, line, "caught", caught) for name, line in MISTAKES.items()]
    return mistakes, [row(name, line, "runs", runs) for name, line in LINES.items()]


@pytest.mark.filterwarnings("ignore")
def test_the_comparison_is_what_the_tools_do():
    guide = GUIDE.read_text(encoding="utf-8")
    mistakes, lines = measured()
    assert "\n".join(mistakes) in guide
    assert "\n".join(lines) in guide


def test_the_guide_tells_all_that_is_not_modelled():
    rows = "\n".join(f"| `{name}` | {text} |" for name, text in sorted(UNMODELLED.items()))
    assert f"| --- | --- |\n{rows}\n\n" in GUIDE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_none_on_one_device(name):
    MISTAKES[name]("cpu")


@pytest.mark.parametrize("name", MISTAKES)
def test_the_virtual_gpu_catches_each_mistake(name):
    assert outcome(MISTAKES[name], "virtual GPU") == "caught"


@pytest.mark.parametrize("name", LINES)
def test_the_virtual_gpu_runs_what_cuda_runs(name):
    assert outcome(LINES[name], "virtual GPU") == "ran"


def test_the_guide_shows_what_its_examples_say():
    assert_shows_what_is_said(GUIDE)


def test_the_readme_shows_what_the_virtual_gpu_says():
    readme = (GUIDE.parents[1] / "README.md").read_text(encoding="utf-8")
    blocks = r"```python\n(import torch\nfrom runtime_guard.*?)```\n\n```text\n(.*?)\n```"
    [(code, text)] = re.findall(blocks, readme, re.DOTALL)
    with pytest.raises(RuntimeError) as raised:
        exec(code, {})
    assert f"RuntimeError: {raised.value}".splitlines()[0] == text
