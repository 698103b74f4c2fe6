"""A convolutional network that tells stripes from one another. Nothing here speaks of a device."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

EPOCHS = 2
CLASSES = ("level", "upright", "slanted")


def stripes(count):
    """Images of noise with stripes, and which way the stripes go."""
    labels = torch.randint(len(CLASSES), (count,))
    rows = torch.arange(16.0).view(1, 16, 1)
    columns = torch.arange(16.0).view(1, 1, 16)
    turned = torch.stack([rows + 0 * columns, columns + 0 * rows, rows + columns], dim=1)[0]
    images = torch.sin(turned[labels]).unsqueeze(1) + 0.5 * torch.randn(count, 1, 16, 16)
    return TensorDataset(images, labels)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
        )
        self.head = nn.Linear(16, len(CLASSES))

    def forward(self, images):
        return self.head(self.features(images).flatten(1))


def train(model, loader, criterion, optimizer):
    model.train()
    total = 0.0
    for images, labels in loader:
        images = images.to(device)
        labels = labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def evaluate(model, loader):
    model.eval()
    correct, seen = 0, 0
    confusion = torch.zeros(len(CLASSES), len(CLASSES))
    with torch.no_grad():
        for images, labels in loader:
            images = images.to(device)
            labels = labels.to(device)
            predicted = model(images).argmax(dim=1)
            correct += (predicted == labels).sum().item()
            seen += len(labels)
            for truth, guess in zip(labels, predicted):
                confusion[truth, guess] += 1
    return correct / seen, confusion


def main():
    torch.manual_seed(0)
    training, validation = random_split(stripes(160), [128, 32])
    train_loader = DataLoader(training, batch_size=16, shuffle=True)
    validation_loader = DataLoader(validation, batch_size=16)
    model = Classifier().to(device)
    weights = torch.tensor([1.0, 1.0, 2.0], device=device)
    criterion = nn.CrossEntropyLoss(weight=weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(EPOCHS):
        loss = train(model, train_loader, criterion, optimizer)
        accuracy, confusion = evaluate(model, validation_loader)
        print(f"epoch {epoch}: loss {loss:.3f}, accuracy {accuracy:.2f}")
    print(confusion.numpy())


if __name__ == "__main__":
    main()
