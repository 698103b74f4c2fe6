"""A siamese network on triplets, all three given to it in one call."""

import torch
from torch import nn


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.PReLU(), nn.Linear(8, 4))

    def forward(self, items):
        # fails A B C D: net.body.0 (Linear) input
        # fails E F: [net.]body.0 (Linear) input
        return nn.functional.normalize(self.body(items))


class TripletNet(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, anchor, positive, negative):
        return self.net(anchor), self.net(positive), self.net(negative)


def train(device):
    model = TripletNet(Embedder()).to(device)  # move A; model model
    criterion = nn.TripletMarginLoss(margin=0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, nesterov=True, momentum=0.9)
    model.train()
    for _ in range(2):
        anchor, positive, negative = torch.randn(3, 5, 6).unbind()
        anchor = anchor.to(device)  # move B
        positive = positive.to(device)  # move C
        negative = negative.to(device)  # move D
        # entered A B C D; fix A: model; fix B: anchor; fix C: positive; fix D: negative
        embedded = model(anchor, positive, negative)
        loss = criterion(*embedded)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    gallery, query = torch.randn(7, 6), torch.randn(1, 6)
    with torch.no_grad():
        known = model.net(gallery.to(device))  # move E; entered E; fix E: gallery
        asked = model.net(query.to(device))  # move F; entered F; fix F: query
    return torch.cdist(asked, known).argmin().item()
