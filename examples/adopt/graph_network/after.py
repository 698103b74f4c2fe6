"""A graph convolutional network in plain torch: one graph, whole tensors, masks for the parts."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

NODES, FEATURES, CLASSES, EPOCHS = 60, 8, 3, 10


def load_data():
    """A graph whose nodes mostly meet nodes of their own class."""
    rng = np.random.default_rng(0)
    labels = rng.integers(CLASSES, size=NODES)
    features = rng.normal(size=(NODES, FEATURES)).astype(np.float32)
    features[np.arange(NODES), labels] += 1.0
    chance = np.where(labels[:, None] == labels[None, :], 0.2, 0.02)
    edges = np.triu(rng.random((NODES, NODES)) < chance, 1)
    adjacency = (edges | edges.T | np.eye(NODES, dtype=bool)).astype(np.float32)
    degrees = adjacency.sum(axis=1)
    adjacency /= np.sqrt(degrees[:, None] * degrees[None, :])

    adjacency = torch.from_numpy(adjacency).to_sparse()
    features = torch.from_numpy(features)
    labels = torch.from_numpy(labels)
    idx_train, idx_val, idx_test = torch.arange(30), torch.arange(30, 45), torch.arange(45, 60)
    return adjacency, features, labels, idx_train, idx_val, idx_test


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adjacency):
        return torch.sparse.mm(adjacency, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.first = GraphConvolution(FEATURES, hidden)
        self.second = GraphConvolution(hidden, CLASSES)

    def forward(self, x, adjacency):
        x = F.dropout(F.relu(self.first(x, adjacency)), 0.5, training=self.training)
        return F.log_softmax(self.second(x, adjacency), dim=1)


def accuracy(output, labels):
    return (output.argmax(dim=1) == labels).double().mean()


torch.manual_seed(0)
adjacency, features, labels, idx_train, idx_val, idx_test = load_data()
features = features.to(device)
adjacency = adjacency.to(device)
labels = labels.to(device)
model = GCN().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

history = []
for epoch in range(EPOCHS):
    model.train()
    optimizer.zero_grad()
    output = model(features, adjacency)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()

    model.eval()
    with torch.no_grad():
        output = model(features, adjacency)
    loss_val = F.nll_loss(output[idx_val], labels[idx_val])
    history.append(loss_val)
    print(f"epoch {epoch}: {loss_train.item():.3f}, validation {loss_val.item():.3f}")

print("best epoch:", int(np.argmin(torch.stack(history).cpu().numpy())))
print(f"test accuracy: {accuracy(output[idx_test], labels[idx_test]).item():.2f}")
