"""Scripts to check, and a way to write them down."""

from pathlib import Path

WRONG = """\
import torch
from torch import nn
assert torch.cuda.is_available()
model = nn.Linear(2, 2).to("cuda")
print(model(torch.zeros(2)))
"""
FINE = "import torch\n\nprint(torch.zeros(2))\n"
BROKEN = "import torch\ndef f(:\n"
ASKED = "import torch\nreveal_device(torch.zeros(2))\n"

SHORT = ("--output-format", "concise")


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path
