"""A graph convolutional network: dense adjacency, indices of the nodes to train on."""

import torch
import torch.nn.functional as F
from torch import nn


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.1)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, features, adjacency):
        support = features @ self.weight  # explained A B: gc1 (GraphConvolution) features
        return adjacency @ support + self.bias  # explained C: gc1 (GraphConvolution) adjacency


class GCN(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.gc1 = GraphConvolution(inputs, hidden)
        self.gc2 = GraphConvolution(hidden, classes)

    def forward(self, x, adj):
        # fails A B: gc1 (GraphConvolution) features
        # fails C: gc1 (GraphConvolution) adjacency
        x = F.relu(self.gc1(x, adj))
        return F.log_softmax(self.gc2(F.dropout(x, 0.5, training=self.training), adj), dim=1)


def train(device):
    adjacency = (torch.rand(7, 7) < 0.4).float()
    adjacency = adjacency / adjacency.sum(1, keepdim=True).clamp(min=1)
    model = GCN(5, 8, 3).to(device)  # move A; model model
    features = torch.randn(7, 5).to(device)  # move B
    adjacency = adjacency.to(device)  # move C
    labels = torch.randint(3, (7,)).to(device)  # move D
    index = torch.tensor([0, 2, 3]).to(device)  # move E; same E: the CPU may index a GPU's tensors
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(2):
        model.train()
        optimizer.zero_grad()
        # entered A B C; fix A: model; fix B: features; fix C: adjacency
        output = model(features, adjacency)
        loss = F.nll_loss(output[index], labels[index])  # raises D: labels
        loss.backward()
        optimizer.step()
    return output.argmax(dim=1)[index].tolist()
