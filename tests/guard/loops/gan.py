"""A generator against a discriminator: two models, two optimizers, noise made at each step."""

import torch
from torch import nn

NOISE = 4


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(NOISE, 4, 4, 1, 0, bias=False),
            nn.BatchNorm2d(4),
            nn.ReLU(True),
            nn.ConvTranspose2d(4, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, noise):
        return self.main(noise)  # fails A E H: main.0 (ConvTranspose2d) input


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, 4, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(4, 1, 4), nn.Flatten(0)
        )

    def forward(self, images):
        return self.main(images)  # fails B C: main.0 (Conv2d) input


def train(device):
    netG = Generator().to(device)  # noqa: N806  # move A; model netG
    netD = Discriminator().to(device)  # noqa: N806  # move B; model netD
    criterion = nn.BCEWithLogitsLoss()
    fixed_noise = torch.randn(2, NOISE, 1, 1, device=device)  # move H
    optimizers = [torch.optim.Adam(net.parameters(), betas=(0.5, 0.999)) for net in (netD, netG)]
    for _ in range(2):
        netD.zero_grad()
        real = torch.rand(3, 1, 8, 8).to(device)  # move C
        ones = torch.full((3,), 1.0, device=device)  # move D
        output = netD(real)  # entered B C; fix B: netD; fix C: real
        # fails D: BCEWithLogitsLoss target; entered D; fix D: ones
        loss_real = criterion(output, ones)
        loss_real.backward()
        noise = torch.randn(3, NOISE, 1, 1, device=device)  # move E
        fake = netG(noise)  # entered A E; fix A: netG; fix E: noise
        zeros = torch.zeros(3).to(device)  # move F
        output = netD(fake.detach())
        # fails F: BCEWithLogitsLoss target; entered F; fix F: zeros
        loss_fake = criterion(output, zeros)
        loss_fake.backward()
        optimizers[0].step()
        netG.zero_grad()
        labels = torch.ones(3, device=device)  # move G
        # fails G: BCEWithLogitsLoss target; entered G; fix G: labels
        loss = criterion(netD(fake), labels)
        loss.backward()
        optimizers[1].step()
    with torch.no_grad():
        return netG(fixed_noise).mean().item()  # entered H; fix H: fixed_noise
