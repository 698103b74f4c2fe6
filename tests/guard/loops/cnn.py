"""A convolutional network on standardised images; the confusion matrix of what it says."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class ConvNet(nn.Module):
    def __init__(self, channels=4):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()
        )
        self.pool = nn.MaxPool2d(2)
        self.classifier = nn.Linear(channels * 16, 3)

    def forward(self, images):
        maps = self.features(images)  # fails A F: features.0 (Conv2d) input
        return self.classifier(torch.flatten(self.pool(maps), 1))


def validate(model, images, labels, device):
    model.eval()
    confusion = torch.zeros(3, 3, device=device)  # move G
    with torch.no_grad():
        logits = model(images.to(device))  # move F; entered F; fix F: images
    labels = labels.to(device)  # same H: labels on the CPU may index a matrix on the GPU; move H
    predicted = logits.argmax(dim=1)
    confusion[labels, predicted] += 1  # raises G: confusion, predicted
    return np.mean(predicted.cpu().numpy())  # move I; raises I: predicted


def train(device):
    images, labels = torch.rand(8, 1, 8, 8), torch.randint(3, (8,))
    mean = torch.tensor([0.5], device=device).view(1, 1, 1, 1)  # move B
    std = torch.tensor([0.25]).view(1, 1, 1, 1).to(device)  # move C
    model = ConvNet().to(device)  # move A; model model
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(2):
        model.train()
        batch = images.to(device, non_blocking=True)  # move D
        batch = batch - mean  # raises B: mean, batch; raises D: batch, mean
        batch = batch / std  # raises C: std, batch
        target = labels.to(device, non_blocking=True)  # move E
        optimizer.zero_grad()
        output = model(batch)  # entered A; fix A: model
        loss = F.cross_entropy(output, target)  # raises E: target, output
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(f"loss {loss.item():.3f}")
    return validate(model, images, labels, device)
