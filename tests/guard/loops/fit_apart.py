"""What trains is given all that it needs: no name for the device is in sight where an error shows."""

import torch
from torch import nn


def fit(net, criterion, batches):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for images, labels in batches:
        # fails A C: Linear input; entered A C; fix A: net; fix C: images
        outputs = net(images)
        # fails B: CrossEntropyLoss input; entered B; fix B: criterion
        # fails D: CrossEntropyLoss target; entered D; fix D: labels
        loss = criterion(outputs, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train(device):
    net = nn.Linear(4, 3).to(device)  # move A; model net
    weights = torch.tensor([1.0, 2.0, 1.0])
    criterion = nn.CrossEntropyLoss(weight=weights).to(device)  # move B
    rows, labels = torch.rand(2, 5, 4), torch.zeros(2, 5, dtype=torch.long)
    images = rows.to(device)  # move C
    targets = labels.to(device)  # move D
    fit(net, criterion, list(zip(images, targets, strict=True)))
