"""Rare classes cost more: the weights of a loss, its smoothing, a threshold for each class."""

import torch
import torch.nn.functional as F
from torch import nn


class FocalLoss(nn.Module):
    def __init__(self, alpha, gamma=2.0):
        super().__init__()
        self.register_buffer("alpha", alpha)
        self.gamma = gamma

    def forward(self, logits, targets):
        losses = F.cross_entropy(logits, targets, reduction="none")
        # explained D: FocalLoss logits
        focus = self.alpha[targets] * (1 - torch.exp(-losses)) ** self.gamma
        return (focus * losses).mean()


def build_model():
    return nn.Sequential(nn.Linear(5, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3))


def train(device):
    x, y = torch.randn(12, 5), torch.randint(3, (12,))
    model = build_model().to(device)  # move A; model model
    counts = torch.bincount(y, minlength=3).clamp(min=1)
    weights = (counts.sum() / counts).to(device)  # move B
    weighted = nn.CrossEntropyLoss(weight=counts.max() / counts, label_smoothing=0.1)
    weighted = weighted.to(device)  # move C
    focal = FocalLoss(alpha=torch.full((3,), 0.25)).to(device)  # move D
    optimizer = torch.optim.Adam(model.parameters())
    for batch, target in zip(x.split(6), y.split(6), strict=True):
        batch, target = (item.to(device) for item in (batch, target))  # move E
        logits = model(batch)  # fails A E: 0 (Linear) input; entered A E; fix A: model; fix E: batch
        loss = F.cross_entropy(logits, target, weight=weights)  # raises B: weights, logits
        # fails C: CrossEntropyLoss input; entered C; fix C: weighted
        loss = loss + weighted(logits, target)
        # fails D: FocalLoss logits; entered D; fix D: focal
        loss = loss + focal(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    thresholds = torch.tensor([0.2, 0.3, 0.5], device=device)  # move F
    with torch.no_grad():
        scores = model(x.to(device)).softmax(dim=1)  # move G; fails G: 0 (Linear) input; entered G; fix G: x
    return (scores > thresholds).sum().item()  # raises F: thresholds, scores
