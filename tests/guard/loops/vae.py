"""A variational autoencoder; new samples come from its decoder alone."""

import torch
import torch.nn.functional as F
from torch import nn, optim


class VAE(nn.Module):
    def __init__(self, pixels=16, latent=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 8), nn.ReLU())
        self.mu = nn.Linear(8, latent)
        self.logvar = nn.Linear(8, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 8), nn.ReLU(), nn.Linear(8, pixels))

    def encode(self, x):
        h = self.encoder(x)  # fails A B E: encoder.0 (Linear) input
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn(std.shape, device=std.device)  # move C
        return mu + eps * std  # raises C: eps, std

    def decode(self, z):
        return torch.sigmoid(self.decoder(z))  # fails D: decoder.0 (Linear) input

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x, reduction="sum")
    return bce - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


def train(device):
    images = torch.rand(6, 16)
    vae = VAE().to(device)  # move A; model vae
    optimizer = optim.Adam(vae.parameters(), lr=1e-3)
    train_loss = 0
    for batch in images.split(3):
        data = batch.to(device)  # move B
        optimizer.zero_grad()
        recon, mu, logvar = vae(data)  # entered A B C; fix A: vae; fix B: data
        loss = loss_function(recon, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    with torch.no_grad():
        z = torch.randn(4, 3).to(device)  # move D
        samples = vae.decode(z)  # entered D; fix D: z
        means, _ = vae.encode(images.to(device))  # move E; entered E; fix E: images
    return samples.cpu().numpy(), means.cpu().numpy()  # move F G; raises F: samples; raises G: means
