"""Fixes that would break what works are not made; their nearest twins are."""

from __future__ import annotations

import devicelint
from devicelint.config import Config
from devicelint.fixes import Fixed

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 4).to(device)
"""

LOADED = """

class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((4,), float(index))


def collate(rows):
    return torch.stack(rows)


loader = DataLoader(Rows(), batch_size=2, num_workers=2, collate_fn=collate)
"""


def fixed(body: str) -> Fixed:
    return devicelint.fix(HEAD + body, config=Config(unsafe_fixes=True))


def reasons(result: Fixed) -> list[str]:
    return list(result.reasons.values())


def test_a_discarded_move_stays_where_something_relies_on_it() -> None:
    result = fixed("x = torch.rand(4)\nx.to(device)\nprint(x.numpy())\n")
    assert result.after is result.before
    assert reasons(result) == ["it would introduce DEV201 on line 9"]
    twin = fixed("x = torch.rand(4)\nx.to(device)\nprint(x.cpu().numpy())\n")
    assert "x = x.to(device)\n" in twin.after.text


def test_batches_move_in_the_loop_and_not_in_the_workers() -> None:
    result = fixed(LOADED + "for x in loader:\n    net(x)\n")
    before, _, after = result.after.text.partition("for x in loader:\n")
    assert before == result.before.text.partition("for x in loader:\n")[0]
    assert after == "    x = x.to(device)\n    net(x)\n"
    assert result.remaining == ()


def test_a_tensor_that_the_loop_creates_is_created_there() -> None:
    result = fixed(LOADED + "for x in loader:\n    net(x.to(device) + torch.ones(4))\n")
    assert "torch.ones(4, device=device)" in result.after.text
    assert result.remaining == ()


def test_what_moves_in_place_is_not_assigned() -> None:
    body = "from transformers import AutoTokenizer\n"
    body += 'batch = AutoTokenizer.from_pretrained("x")("text", return_tensors="pt")\n'
    result = fixed(body + "batch.to(device)\n")
    assert result.after is result.before
    twin = fixed("batch = torch.rand(4)\nbatch.to(device)\nnet(batch)\n")
    assert "batch = batch.to(device)\n" in twin.after.text


def test_a_buffer_says_what_becomes_of_the_state_dict() -> None:
    body = """

class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.shift = torch.ones(4)

    def forward(self, x):
        return self.linear(x) + self.shift


Shift().to(device)(torch.rand(4, device=device))
"""
    result = fixed(body)
    assert 'self.register_buffer("shift", torch.ones(4), persistent=False)' in result.after.text
    (finding,) = result.applied
    assert finding.fix is not None
    assert "not part of the state_dict" in finding.fix.message


GUARDED = """\
import torch

on_gpu = torch.cuda.is_available()
x = torch.rand(4).cuda() if on_gpu else torch.rand(4)


class Bounds:
    def __init__(self):
        self.low = {"x": torch.zeros(4)}

    def cut(self, x):
        return torch.maximum(x, self.low["x"])


def cut():
    return torch.maximum(x, torch.zeros(4))


Bounds().cut(x)
cut()
"""


def test_a_guarded_accelerator_is_not_written_where_there_is_no_guard() -> None:
    result = devicelint.fix(GUARDED)
    assert 'self.low["x"].to(x.device)' in result.after.text
    assert "torch.zeros(4, device=x.device)" in result.after.text
    assert result.after.text.count("cuda()") == 1
    assert result.remaining == ()


def test_only_what_has_a_method_to_is_moved() -> None:
    source = (
        "import torch\nfrom torch.distributions import Normal\n\n"
        "prior = Normal(torch.zeros(2), torch.ones(2))\n"
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.prior = Normal(torch.zeros(2), torch.ones(2))\n\n"
        "    def forward(self, x):\n"
        "        return self.prior.log_prob(x)\n\n"
        "Net()(torch.ones(2, device=device))\n"
    )
    checked = devicelint.check(source)
    assert [one.code for one in checked.findings] == ["DEV103"]
    assert ".prior.to(" not in devicelint.fix(source).after.text


SHOWN = """
import numpy as np


def shown(y):
    return np.asarray(y)


"""


def test_what_is_an_array_in_another_call_is_not_moved() -> None:
    result = fixed(SHOWN + "shown(np.zeros(3))\nshown(torch.ones(3, device=device))\n")
    assert result.after is result.before
    assert reasons(result) == ["it would introduce DEV301 on line 12"]
    twin = fixed(SHOWN + "shown(torch.ones(3, device=device))\n")
    assert "np.asarray(y.cpu())" in twin.after.text
