"""A program that makes something go wrong in a file that it imports."""

from __future__ import annotations

from pathlib import Path

MODEL = """\
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 8)

    def start(self, size):
        hidden = torch.zeros(1, size, 8)
        return hidden, hidden.clone()

    def forward(self, x, hidden):
        return self.rnn(x, hidden)
"""
TRAIN = """\
import torch
from model import Tagger

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
tagger = Tagger().to(device)
hidden = tagger.start(2)
for step in range(3):
    out, hidden = tagger(torch.ones(5, 2, 4, device=device), hidden)
"""


def write_tagger(folder: Path) -> Path:
    """Write the program into a folder, as a project; gives the file that it leads to."""
    (folder / "pyproject.toml").touch()
    (folder / "model.py").write_text(MODEL)
    (folder / "train.py").write_text(TRAIN)
    return folder / "model.py"
