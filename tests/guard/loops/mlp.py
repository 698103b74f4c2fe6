"""A perceptron, batch by batch, and its accuracy afterwards."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.dropout = nn.Dropout(0.1)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        h = torch.relu(self.fc1(x))  # fails A B D: fc1 (Linear) input
        return self.fc2(self.dropout(h))


def evaluate(net, loader, device):
    net.eval()
    hits = torch.zeros(1, device=device)  # move F
    with torch.no_grad():
        for x, y in loader:
            scores = net(x.to(device))  # move D; entered D; fix D: x
            right = scores.argmax(dim=1) == y.to(device)  # move E; raises E: y
            hits += right.sum()  # raises F: hits, right
    return hits.item() / len(loader.dataset)


def train(device):
    data = TensorDataset(torch.randn(12, 8), torch.randint(3, (12,)))
    loader = DataLoader(data, batch_size=6, shuffle=True)
    net = Perceptron().to(device)  # move A; model net
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net.train()
    for x, y in loader:
        x, y = x.to(device), y.to(device)  # move B C
        optimizer.zero_grad()
        scores = net(x)  # entered A B; fix A: net; fix B: x
        loss = criterion(scores, y)  # fails C: CrossEntropyLoss target; entered C; fix C: y
        loss.backward()
        optimizer.step()
    return evaluate(net, loader, device)
