"""What the distributed programs train, and what goes wrong on one rank."""

import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scaled = Scaled()

    def forward(self, batch, *, key):
        hidden = self.linear(batch[key])
        return {key: self.scaled(hidden)}


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4))

    def forward(self, hidden):
        return hidden * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(4, 2)

    def forward(self, batch):
        for block in self.blocks:
            batch = block(batch, key="x")
        return self.head(batch["x"])


def start(rank=None, ranks=None):
    """Joins the other ranks, by what torchrun says or through the file that `launch` names."""
    dist.init_process_group(
        "gloo",
        init_method=os.environ.get("RENDEZVOUS", "env://"),
        rank=int(os.environ["RANK"]) if rank is None else rank,
        world_size=int(os.environ["WORLD_SIZE"]) if ranks is None else ranks,
        timeout=timedelta(seconds=40),
    )
    torch.manual_seed(0)


def misplace(wrong, net, batch):
    """Rank 1's mistake: it has its batch, or a buffer of its model, elsewhere."""
    if dist.get_rank() != 1:
        return
    if wrong == "batch":
        batch["x"] = batch["x"].to("meta")
    if wrong == "buffer":
        net.blocks[1].scaled.scale = net.blocks[1].scaled.scale.to("meta")


def train(model, net, wrong, steps=3):
    """Trains `model`, which holds `net`; the mistake is made in the second step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        batch, target = {"x": torch.randn(2, 4)}, torch.tensor([0, 1])
        if step == 1:
            misplace(wrong, net, batch)
        optimizer.zero_grad()
        output = model(batch)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
