"""A transformer that writes like its text. It was written for a machine with a GPU, and needs one."""

import math

import torch
from torch import nn
from torch.nn import functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

BATCH, BLOCK, WIDTH, HEADS, LAYERS, STEPS = 8, 32, 32, 4, 2, 6
TEXT = "to be, or not to be, that is the question: whether 'tis nobler in the mind " * 40

torch.manual_seed(0)
letters = sorted(set(TEXT))
data = torch.tensor([letters.index(letter) for letter in TEXT])
split = int(0.9 * len(data))
parts = {"train": data[:split], "validation": data[split:]}


def get_batch(part):
    starts = torch.randint(len(parts[part]) - BLOCK - 1, (BATCH,))
    x = torch.stack([parts[part][start : start + BLOCK] for start in starts])
    y = torch.stack([parts[part][start + 1 : start + BLOCK + 1] for start in starts])
    return x.to(device), y.to(device)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (
            each.view(batch, length, HEADS, -1).transpose(1, 2)
            for each in self.qkv(x).split(WIDTH, dim=2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(WIDTH // HEADS)
        mask = torch.tril(torch.ones(length, length)).to(device)
        scores = scores.masked_fill(mask == 0, float("-inf"))
        x = F.softmax(scores, dim=-1) @ v
        return self.out(x.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.norm_1, self.norm_2 = (
            Attention(),
            nn.LayerNorm(WIDTH),
            nn.LayerNorm(WIDTH),
        )
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.mlp(self.norm_2(x))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(len(letters), WIDTH)
        self.positions = nn.Embedding(BLOCK, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Linear(WIDTH, len(letters))

    def forward(self, numbers, targets=None):
        positions = torch.arange(numbers.shape[1]).to(device)
        logits = self.head(self.blocks(self.tokens(numbers) + self.positions(positions)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def validate(model):
    model.eval()
    losses = torch.zeros(2)
    for step in range(2):
        _, loss = model(*get_batch("validation"))
        losses[step] = loss.item()
    model.train()
    return losses.mean()


@torch.no_grad()
def write(model, length):
    numbers = torch.zeros((1, 1), dtype=torch.long).to(device)
    for _ in range(length):
        logits, _ = model(numbers[:, -BLOCK:])
        following = torch.multinomial(F.softmax(logits[:, -1], dim=-1), 1)
        numbers = torch.cat([numbers, following], dim=1)
    return "".join(letters[number] for number in numbers[0].tolist())


model = LanguageModel().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(STEPS):
    _, loss = model(*get_batch("train"))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 3 == 2:
        print(f"step {step}: loss {loss.item():.3f}, validation {validate(model):.3f}")
print(write(model, 40))
