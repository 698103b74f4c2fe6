"""A text classifier: sequences of several lengths, packed for an LSTM with a first state."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class TextClassifier(nn.Module):
    def __init__(self, words=20, width=6, classes=3):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.out = nn.Linear(width, classes)

    def forward(self, tokens, lengths, state):
        vectors = self.embedding(tokens)  # fails A B: embedding (Embedding) input
        lengths = lengths.cpu()  # move G
        # explained G: TextClassifier lengths
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        result, _ = self.lstm(packed, state)  # fails D: lstm (LSTM) hx[0]
        padded, _ = pad_packed_sequence(result, batch_first=True)
        return self.out(padded.mean(dim=1))


def collate(texts):
    lengths = torch.tensor([len(text) for text in texts])
    return pad_sequence(texts, batch_first=True), lengths


def train(device):
    texts = [torch.randint(1, 20, (length,)) for length in (5, 3, 4)]
    model = TextClassifier()
    model.to(device)  # move A; model model
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        tokens, lengths = collate(texts)
        tokens = tokens.to(device)  # move B
        lengths = lengths.to(device)  # move C; same C: it is brought back to the CPU for packing
        first = torch.zeros(2, len(texts), 6, device=device)  # move D
        state = (first, first.clone())
        labels = torch.tensor([0, 1, 2]).to(device)  # move E
        # fix A: model; fix B: tokens; fix D: state; fix G: lengths
        scores = model(tokens, lengths, state)  # entered A B D G
        loss = loss_fn(scores, labels)  # fails E: CrossEntropyLoss target; entered E; fix E: labels
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
