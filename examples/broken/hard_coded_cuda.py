"""Train a convolutional network on handwritten digits, on the GPU.

Broken: it moves the network only where there is a GPU, and says `.cuda()` everywhere else, so that
it cannot run on a machine without a GPU after all.
Fixed: it reaches an accuracy of 0.95 or more on the test set.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3)
        self.fc = nn.Linear(32 * 3 * 3, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)  # 8x8 -> 6x6 -> 3x3
        return self.fc(x.view(x.size(0), -1))


torch.manual_seed(1)

# Standardise with the statistics of the whole set, on the GPU.
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)
mean = images.mean(dim=0).cuda()
std = images.std(dim=0).cuda() + 1e-3

dataset = TensorDataset(images, torch.tensor(digits.target))
train_set, test_set = random_split(dataset, [1437, 360])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = DataLoader(test_set, batch_size=120)

net = ConvNet()
if torch.cuda.is_available():
    net.cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)


def prepare(batch):
    return ((batch - mean) / std).unsqueeze(1)


for epoch in range(8):
    net.train()
    total_loss = torch.zeros(1, device="cuda")
    for images, labels in train_loader:
        images = images.cuda()
        labels = labels.cuda()
        optimizer.zero_grad()
        loss = criterion(net(prepare(images)), labels)
        loss.backward()
        optimizer.step()
        total_loss += loss.detach()
    print(f"epoch {epoch + 1}: loss {total_loss.item() / len(train_loader):.4f}")

net.eval()
correct = 0
with torch.no_grad():
    for images, labels in test_loader:
        outputs = net(prepare(images.cuda()))
        correct += (outputs.max(1)[1] == labels.cuda()).sum().item()
print(f"accuracy: {correct / len(test_set):.3f}")
