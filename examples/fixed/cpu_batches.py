"""Train a small convolutional network on the handwritten digits of scikit-learn.

Broken: the model goes to the GPU, the batches never do. `pin_memory=True` does not move them.
Fixed: it reaches an accuracy of 0.95 or more on the test set.
"""

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class DigitNet(nn.Module):
    def __init__(self, channels=16, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, channels, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Linear(2 * channels * 4 * 4, classes)

    def forward(self, x):
        x = self.features(x)
        return self.classifier(x.flatten(1))


digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
targets = torch.tensor(digits.target)
train_index, test_index = train_test_split(range(len(targets)), test_size=0.2, random_state=0)
train_set = TensorDataset(images[train_index], targets[train_index])
test_set = TensorDataset(images[test_index], targets[test_index])

pin_memory = torch.cuda.is_available()
train_loader = DataLoader(train_set, batch_size=64, shuffle=True, pin_memory=pin_memory)
test_loader = DataLoader(test_set, batch_size=256, pin_memory=pin_memory)

model = DigitNet().to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(10):
    model.train()
    running_loss = 0.0
    for inputs, labels in train_loader:
        inputs = inputs.to(device)
        labels = labels.to(device)
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * len(inputs)
    print(f"epoch {epoch + 1}: loss {running_loss / len(train_set):.3f}")

model.eval()
correct = 0
with torch.no_grad():
    for inputs, labels in test_loader:
        inputs = inputs.to(device)
        labels = labels.to(device)
        outputs = model(inputs)
        correct += (outputs.argmax(dim=1) == labels).sum().item()
print(f"accuracy: {correct / len(test_set):.3f}")
