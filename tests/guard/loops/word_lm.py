"""A language model of words that carries its hidden state from one stretch of text to the next."""

import math

import torch
from torch import nn


class RNNModel(nn.Module):
    def __init__(self, words, width, layers):
        super().__init__()
        self.layers, self.width = layers, width
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width, layers, dropout=0.2)
        self.decoder = nn.Linear(width, words)

    def forward(self, input, hidden):  # noqa: A002
        emb = self.drop(self.encoder(input))  # fails A B E: encoder (Embedding) input
        # fails D: rnn (LSTM) hx[0]; fails H: rnn (LSTM) hx[1]
        output, hidden = self.rnn(emb, hidden)
        return self.decoder(self.drop(output)).flatten(0, 1), hidden

    def init_hidden(self, batch, device):
        shape = (self.layers, batch, self.width)
        return (
            torch.zeros(shape, device=device),  # move D
            torch.zeros(shape, device=device),  # move H
        )


def repackage_hidden(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


def batchify(data, batch, device):
    length = data.size(0) // batch
    return data[: length * batch].view(batch, -1).t().contiguous().to(device)  # move B


def train(device):
    corpus = torch.randint(11, (60,))
    model = RNNModel(11, 6, 2).to(device)  # move A; model model
    criterion = nn.CrossEntropyLoss()
    train_data = batchify(corpus, 4, device)
    hidden = model.init_hidden(4, device)
    model.train()
    total_loss = torch.zeros(1).to(device)  # move C
    for i in range(0, 9, 3):
        data, targets = train_data[i : i + 3], train_data[i + 1 : i + 4].view(-1)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        # entered A B D H; fix A: model; fix B: data; fix D: hidden; fix H: hidden
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-0.5)
        total_loss += loss.detach()  # raises C: total_loss, loss
    perplexity = math.exp(min(total_loss.item(), 20))
    word = torch.randint(11, (1, 1), dtype=torch.long).to(device)  # move E
    hidden = model.init_hidden(1, device)
    with torch.no_grad():
        output, hidden = model(word, hidden)  # entered E; fix E: word
    likely = output.squeeze().argmax().cpu()  # move F; same F: a 0-dim value goes to any device
    word.fill_(likely)
    return perplexity, word.item()
