"""A variational autoencoder of blots of ink. `--no-cuda` keeps it off the GPU."""

import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description="VAE of blots")
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--no-cuda", action="store_true", default=False)
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()
device = torch.device("cuda" if args.cuda else "cpu")

torch.manual_seed(args.seed)
if args.cuda:
    torch.cuda.manual_seed(args.seed)

SIZE = 12


def blots(count):
    centres = torch.rand(count, 2) * SIZE
    grid = torch.stack(torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij"))
    distance = (grid.unsqueeze(0) - centres.view(count, 2, 1, 1)).pow(2).sum(dim=1)
    return torch.exp(-distance / 6)


kwargs = {"num_workers": 0, "pin_memory": True} if args.cuda else {}
train_loader = DataLoader(
    TensorDataset(blots(128), torch.zeros(128)), batch_size=args.batch_size, shuffle=True, **kwargs
)
test_loader = DataLoader(
    TensorDataset(blots(32), torch.zeros(32)), batch_size=args.batch_size, **kwargs
)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(SIZE * SIZE, 64)
        self.fc21 = nn.Linear(64, 4)
        self.fc22 = nn.Linear(64, 4)
        self.fc3 = nn.Linear(4, 64)
        self.fc4 = nn.Linear(64, SIZE * SIZE)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn(std.size())
        eps = eps.to(device)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, SIZE * SIZE))
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


model = VAE()
model.to(device)
optimizer = optim.Adam(model.parameters(), lr=1e-3)


def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x.view(-1, SIZE * SIZE), reduction="sum")
    return bce - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


def train(epoch):
    model.train()
    train_loss = 0
    for data, _ in train_loader:
        data = data.to(device, non_blocking=True)
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss = loss_function(recon, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print(f"epoch {epoch}: {train_loss / len(train_loader.dataset):.3f}")


def test():
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for data, _ in test_loader:
            data = data.to(device, non_blocking=True)
            recon, mu, logvar = model(data)
            test_loss += loss_function(recon, data, mu, logvar).item()
    print(f"test: {test_loss / len(test_loader.dataset):.3f}")


for epoch in range(1, args.epochs + 1):
    train(epoch)
    test()
with torch.no_grad():
    sample = torch.randn(2, 4)
    sample = sample.to(device)
    sample = model.decode(sample).cpu()
    print(sample.view(2, SIZE, SIZE).numpy().round(1)[0, 0])
