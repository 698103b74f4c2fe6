"""A mixture of experts: modules in lists of lists, made on the device they are for."""

import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, width, device=None):
        super().__init__()
        self.up = nn.Linear(width, 2 * width, device=device)  # move A
        self.down = nn.Linear(2 * width, width, device=device)  # move B

    def forward(self, tokens):
        h = self.up(tokens).relu()  # fails A C: layers.0.experts.0.up (Linear) input
        return self.down(h)  # fails B: layers.0.experts.0.down (Linear) input


class Layer(nn.Module):
    def __init__(self, width, count, device=None):
        super().__init__()
        self.gate = nn.Linear(width, count, device=device)  # move D
        self.experts = nn.ModuleList(
            Expert(width, device=device)  # move C
            for _ in range(count)
        )

    def forward(self, tokens):
        weights = self.gate(tokens).softmax(-1)  # fails D E G H: layers.0.gate (Linear) input
        mixed = sum(
            weights[:, index, None] * expert(tokens) for index, expert in enumerate(self.experts)
        )
        return tokens + mixed


class Mixture(nn.Module):
    def __init__(self, width=4, depth=2, device=None):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, 2, device=device) for _ in range(depth))  # move E
        self.out = nn.Linear(width, 1, device=device)  # move F

    def forward(self, tokens):
        for layer in self.layers:
            tokens = layer(tokens)
        return self.out(tokens)  # fails F: out (Linear) input


def train(device):
    model = Mixture(device=device)  # move H; model model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    target = torch.ones(5, 1, device=device)  # move I
    for _ in range(2):
        tokens = torch.randn(5, 4, device=device)  # move G
        # entered A B C D E F G H; fix A B C D E F: model; fix G: tokens; fix H: model
        predicted = model(tokens)
        # fails I: MSELoss target; entered I; fix I: target
        loss = nn.MSELoss()(predicted, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
