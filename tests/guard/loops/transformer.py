"""A sentence classifier: a Transformer encoder with a padding mask and a causal mask."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Encoder(nn.Module):
    def __init__(self, words=20, width=8, classes=2):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.position = nn.Parameter(torch.zeros(1, 16, width))
        layer = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, ids, padding, causal):
        h = self.embedding(ids)  # fails B: embedding (Embedding) input; explained A: embedding (Embedding) input
        h = h + self.position[:, : ids.size(1)]
        # fails C: encoder.layers.0.self_attn (MultiheadAttention) key_padding_mask
        # fails D: encoder.layers.0.self_attn (MultiheadAttention) attn_mask
        h = self.encoder(h, mask=causal, src_key_padding_mask=padding)
        return self.head(h[:, 0])


def train(device):
    sentences = [torch.randint(1, 20, (length,)) for length in (5, 3, 4)]
    model = Encoder().to(device)  # move A; model model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 2)
    model.train()
    for _ in range(2):
        batch = pad_sequence(sentences, batch_first=True)
        ids = batch.to(device)  # move B
        padding = (batch == 0).to(device)  # move C
        causal = torch.ones(5, 5, dtype=torch.bool).triu(1).to(device)  # move D
        targets = torch.tensor([0, 1, 0], device=device)  # move E
        # entered A B C D; fix A: model; fix B: ids; fix C: padding; fix D: causal
        logits = model(ids, padding, causal)  # fails A: Encoder ids
        loss = nn.functional.cross_entropy(logits, targets)  # raises E: targets, logits
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
