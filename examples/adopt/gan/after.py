"""Two networks that train each other: one draws points of a ring, the other tells them apart."""

import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

NOISE, BATCH, EPOCHS = 4, 32, 2


class Ring(torch.utils.data.Dataset):
    def __init__(self, count):
        self.angles = torch.rand(count) * 2 * math.pi

    def __len__(self):
        return len(self.angles)

    def __getitem__(self, index):
        angle = self.angles[index]
        return torch.stack([angle.cos(), angle.sin()])


def weights_init(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, 0.0, 0.2)


def build(sizes, last):
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [nn.Linear(before, after), nn.LeakyReLU(0.2)]
    net = nn.Sequential(*layers[:-1], last).to(device)
    net.apply(weights_init)
    return net


torch.manual_seed(0)
loader = DataLoader(Ring(128), batch_size=BATCH, shuffle=True, drop_last=True)
generator = build([NOISE, 16, 2], nn.Identity())
discriminator = build([2, 16, 1], nn.Sigmoid())
criterion = nn.BCELoss()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=0.002, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=0.002, betas=(0.5, 0.999))
fixed_noise = torch.randn(5, NOISE, device=device)

for epoch in range(EPOCHS):
    for points in loader:
        points = points.to(device)
        real = torch.ones(points.size(0), 1, device=device)
        fake = torch.zeros(points.size(0), 1, device=device)

        discriminator.zero_grad()
        loss_real = criterion(discriminator(points), real)
        noise = torch.randn(points.size(0), NOISE, device=device)
        drawn = generator(noise)
        loss_fake = criterion(discriminator(drawn.detach()), fake)
        loss_d = loss_real + loss_fake
        loss_d.backward()
        optimizer_d.step()

        generator.zero_grad()
        loss_g = criterion(discriminator(drawn), real)
        loss_g.backward()
        optimizer_g.step()
    print(f"epoch {epoch}: discriminator {loss_d.item():.3f}, generator {loss_g.item():.3f}")

with torch.no_grad():
    samples = generator(fixed_noise).detach().cpu().numpy()
print(samples.round(2))
