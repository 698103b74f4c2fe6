"""Classify handwritten digits, and report the confusion matrix with scikit-learn.

Broken: predictions and losses become NumPy arrays straight from the GPU.
Fixed: it reaches an accuracy of 0.95 or more on the test set.
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 96)
        self.fc2 = nn.Linear(96, 48)
        self.fc3 = nn.Linear(48, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def train(model, loader, optimizer):
    """One pass over the training set; returns the mean loss."""
    model.train()
    losses = []
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().cpu().numpy())
    return np.mean(losses)


def predict(model, loader):
    model.eval()
    predicted = []
    with torch.no_grad():
        for data, _ in loader:
            output = model(data.to(device))
            predicted.append(output.argmax(dim=1).cpu().numpy())
    return np.concatenate(predicted)


torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    (X / 16).astype(np.float32), y, test_size=0.2, random_state=0
)
train_set = TensorDataset(torch.from_numpy(X_train), torch.from_numpy(y_train))
test_set = TensorDataset(torch.from_numpy(X_test), torch.from_numpy(y_test))
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
test_loader = DataLoader(test_set, batch_size=128)

model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(1, 16):
    mean_loss = train(model, train_loader, optimizer)
    print(f"epoch {epoch}: loss {mean_loss:.3f}")

y_pred = predict(model, test_loader)
print(confusion_matrix(y_test, y_pred))
print(f"accuracy: {accuracy_score(y_test, y_pred):.3f}")
