"""Batches that are dataclasses and named tuples, given to the model whole."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

import torch
from torch import nn

Sample = namedtuple("Sample", "image label")


@dataclass
class Batch:
    images: torch.Tensor
    scale: torch.Tensor
    labels: torch.Tensor

    @classmethod
    def of(cls, samples):
        images = torch.stack([sample.image for sample in samples])
        return cls(images, torch.rand(len(samples), 1), torch.tensor([s.label for s in samples]))

    def to(self, device):
        return Batch(
            images=self.images.to(device),  # move C
            scale=self.scale.to(device),  # move D
            labels=self.labels.to(device),  # move E
        )


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(1))
        self.body = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, batch):
        pixels = batch.images * batch.scale  # explained C: Model batch.images; explained D: Model batch.scale
        return self.body(pixels + self.shift)  # explained A B: Model batch.images


def train(device):
    samples = [Sample(torch.rand(6), index % 2) for index in range(6)]
    model = Model()
    model = model.to(device)  # move A; model model
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for start in (0, 3):
        batch = Batch.of(samples[start : start + 3])
        batch = batch.to(device)  # move B
        # fails A B C: Model batch.images; fails D: Model batch.scale; entered A B C D
        logits = model(batch)  # fix A: model; fix B C D: batch
        loss = nn.functional.cross_entropy(logits, batch.labels)  # raises E: batch.labels, logits
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
