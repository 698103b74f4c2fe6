"""Contrastive learning of pairs: a temperature in a buffer, negatives kept in a queue."""

import torch
import torch.nn.functional as F
from torch import nn


class Contrast(nn.Module):
    def __init__(self, encoder, width, queue=6):
        super().__init__()
        self.encoder = encoder
        self.register_buffer("temperature", torch.tensor([0.1]))
        self.register_buffer("queue", F.normalize(torch.randn(queue, width)))

    def forward(self, query, key):
        q, k = self.encoder(query), self.encoder(key)
        positive = (q * k).sum(1, keepdim=True)
        logits = torch.cat([positive, q @ self.queue.clone().t()], dim=1)
        self.queue[: len(k)] = k.detach()
        return logits / self.temperature


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, views):
        # explained A B C: encoder.body.0 (Linear) input
        return F.normalize(self.body(views), dim=1)


def nt_xent(z, device):
    similarity = z @ z.t()
    itself = torch.eye(len(z), dtype=torch.bool, device=device)  # move E
    similarity = similarity.masked_fill(itself, -1e9)  # raises E: itself, similarity
    pairs = torch.arange(len(z), device=device).roll(len(z) // 2)  # move F
    return F.cross_entropy(similarity, pairs)  # raises F: pairs, similarity


def train(device):
    model = Contrast(Encoder(), width=4).to(device)  # move A; model model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    for _ in range(2):
        items = torch.randn(4, 6)
        first, second = (items + 0.1 * torch.randn(4, 6) for _ in range(2))
        first = first.to(device)  # move B
        second = second.to(device)  # move C
        # fails A B: Contrast query; fails C: Contrast key
        # entered A B C; fix A: model; fix B: first; fix C: second
        logits = model(first, second)
        target = torch.zeros(len(logits), dtype=torch.long).to(device)  # move D
        loss = F.cross_entropy(logits, target)  # raises D: target, logits
        loss = loss + nt_xent(model.encoder(torch.cat([first, second])), device)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
