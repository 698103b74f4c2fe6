"""Several tasks at once: nested targets, a head for each, a loss that learns their weights."""

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.heads = nn.ModuleDict({name: nn.Linear(64, size) for name, size in tasks.items()})

    def forward(self, inputs):
        shared = self.trunk(inputs["image"])  # fails A B: trunk.0 (Conv2d) input
        shared = shared * inputs["context"]["gain"]  # explained C: Network inputs["context"]["gain"]
        return {name: head(shared) for name, head in self.heads.items()}


class WeightedLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(2))
        self.classification = nn.CrossEntropyLoss()
        self.regression = nn.MSELoss()

    def forward(self, outputs, targets):
        # fails D: classification (CrossEntropyLoss) target
        kind = self.classification(outputs["kind"], targets["labels"][0])
        # explained E: regression (MSELoss) target
        box = self.regression(outputs["box"], targets["boxes"]["xywh"])
        # explained F: WeightedLoss outputs["kind"]
        return (torch.stack([kind, box]) * torch.exp(-self.log_vars) + self.log_vars).sum()


def make_batch():
    image = torch.rand(2, 3, 4, 4)
    inputs = {"image": image, "context": {"gain": torch.rand(2, 1), "camera": "left"}}
    targets = {"labels": (torch.tensor([0, 1]), "kinds"), "boxes": {"xywh": torch.rand(2, 4)}}
    return inputs, targets


def train(device):
    network = Network({"kind": 3, "box": 4}).to(device)  # move A; model network
    loss_fn = WeightedLoss().to(device)  # move F; model loss_fn
    parameters = [*network.parameters(), *loss_fn.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3)
    for _ in range(2):
        inputs, targets = make_batch()
        inputs["image"] = inputs["image"].to(device)  # move B
        inputs["context"]["gain"] = inputs["context"]["gain"].to(device)  # move C
        targets["labels"] = (targets["labels"][0].to(device), "kinds")  # move D
        targets["boxes"] = {key: box.to(device) for key, box in targets["boxes"].items()}  # move E
        # entered A B C; fix A: network; fix B: inputs; fix C: inputs
        outputs = network(inputs)
        # fails E: WeightedLoss targets["boxes"]["xywh"]; fails F: WeightedLoss outputs["kind"]
        # entered D E F; fix D: targets; fix E: targets; fix F: loss_fn
        loss = loss_fn(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
