"""A student learns from a frozen teacher, from its logits and its hidden features."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Conv1d(2, width, 3, padding=1)
        self.norm = nn.GroupNorm(1, width)
        self.fc = nn.Linear(width, 3)

    def forward(self, signal):
        # fails A B D E: stem (Conv1d) input
        features = self.norm(self.stem(signal)).mean(-1)
        return self.fc(features), features


def distillation_loss(student, teacher, temperature):
    soft = F.log_softmax(student / temperature, dim=-1)
    return F.kl_div(soft, F.softmax(teacher / temperature, dim=-1), reduction="batchmean")


def train(device):
    teacher = Net(8).to(device)  # move A; model teacher
    teacher.requires_grad_(False).eval()
    student = Net(4).to(device)  # move B; model student
    projection = nn.Linear(4, 8, bias=False).to(device)  # move C; model projection
    average = copy.deepcopy(student)
    temperature = torch.tensor(2.0).to(device)  # move G; same G: 0-dim mixes with any
    parameters = [*student.parameters(), *projection.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    for _ in range(2):
        inputs, labels = torch.randn(4, 2, 7), torch.randint(3, (4,))
        with torch.no_grad():
            # entered A D; fix A: teacher; fix D: inputs
            known, hints = teacher(inputs.to(device))  # move D
        # entered B E; fix B: student; fix E: inputs
        logits, features = student(inputs.to(device))  # move E
        loss = distillation_loss(logits, known, temperature)
        # fails C: Linear input; entered C; fix C: projection
        loss = loss + F.mse_loss(projection(features), hints)
        loss = loss + F.cross_entropy(logits, labels.to(device))  # move F; raises F: labels, logits
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for mean, new in zip(average.parameters(), student.parameters(), strict=True):
                mean.lerp_(new, 0.1)
