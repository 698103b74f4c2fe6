"""Train on handwritten digits, and count the right answers of each class.

Broken: the counters are created on the CPU and summed up with values from the GPU.
Fixed: it reaches an accuracy of 0.95 or more on the test set.
"""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy, one_hot
from torch.utils.data import DataLoader, TensorDataset, random_split

NUM_CLASSES = 10
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU()
        )
        self.fc = nn.Sequential(nn.Linear(16 * 6 * 6, 64), nn.ReLU(), nn.Linear(64, NUM_CLASSES))

    def forward(self, x):
        return self.fc(self.conv(x).flatten(start_dim=1))


def train(model, loader, epochs):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    model.train()
    for epoch in range(epochs):
        for images, targets in loader:
            images, targets = images.to(device), targets.to(device)
            loss = cross_entropy(model(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}")


@torch.no_grad()
def count_hits(model, loader):
    """How many examples of each class there are, and how many of them are recognised."""
    model.eval()
    hits = torch.zeros(NUM_CLASSES, dtype=torch.long, device=device)
    seen = torch.zeros(NUM_CLASSES, dtype=torch.long, device=device)
    for images, targets in loader:
        images, targets = images.to(device), targets.to(device)
        right = model(images).argmax(dim=1) == targets
        classes = one_hot(targets, NUM_CLASSES)
        hits += (classes * right.unsqueeze(1)).sum(dim=0)
        seen += classes.sum(dim=0)
    return hits, seen


if __name__ == "__main__":
    torch.manual_seed(0)
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32)[:, None] / 16
    train_set, test_set = random_split(TensorDataset(images, torch.tensor(data.target)), [0.8, 0.2])

    model = LeNet().to(device)
    train(model, DataLoader(train_set, batch_size=64, shuffle=True), epochs=12)

    hits, seen = count_hits(model, DataLoader(test_set, batch_size=128))
    for digit, (hit, total) in enumerate(zip(hits.tolist(), seen.tolist(), strict=True)):
        print(f"{digit}: {hit}/{total}")
    print(f"accuracy: {(hits.sum() / seen.sum()).item():.3f}")
