"""A small decoder of several classes, its blocks in a ModuleList, which generates at the end."""

import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (t.view(shape).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / shape[-1] ** 0.5
        hidden = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)  # move E
        scores = scores.masked_fill(hidden, float("-inf"))  # raises E: hidden, scores
        mixed = scores.softmax(dim=-1) @ v
        return self.proj(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1 = nn.LayerNorm(width)
        self.attention = SelfAttention(width, heads)
        self.ln2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Decoder(nn.Module):
    def __init__(self, words=16, width=8, heads=2, depth=2):
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.positions = nn.Embedding(12, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        steps = torch.arange(ids.size(1), device=ids.device)  # move D
        x = self.tokens(ids)  # fails A B F: tokens (Embedding) input
        x = x + self.positions(steps)  # fails D: positions (Embedding) input; fix D: steps
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    @torch.no_grad()
    def generate(self, ids, count):
        for _ in range(count):
            last = self(ids)[:, -1].softmax(dim=-1)
            ids = torch.cat([ids, torch.multinomial(last, 1)], dim=1)
        return ids


def train(device):
    text = torch.randint(16, (4, 9))
    model = Decoder().to(device)  # move A; model model
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW([{"params": decayed}, {"params": others, "weight_decay": 0}])
    for start in (0, 2):
        rows = text[start : start + 2]
        x, y = rows[:, :-1], rows[:, 1:]
        x, y = x.to(device), y.to(device)  # move B C
        logits = model(x)  # entered A B D E; fix A: model; fix B: x
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())  # raises C: y, logits
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    prompt = torch.zeros(1, 1, dtype=torch.long, device=device)  # move F
    return model.generate(prompt, 3).tolist()  # entered F; fix F: prompt
