"""Sequence to sequence with teacher forcing: two models, the decoder called word by word."""

import torch
from torch import nn

SOS, EOS = 0, 1


class EncoderRNN(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.gru = nn.GRU(width, width)

    def forward(self, word, hidden):
        embedded = self.embedding(word)  # fails A C: embedding (Embedding) input
        return self.gru(embedded, hidden)  # fails D: gru (GRU) hx


class DecoderRNN(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.gru = nn.GRU(width, width)
        self.out = nn.Linear(width, words)

    def forward(self, word, hidden):
        embedded = self.embedding(word).relu()  # fails B E: embedding (Embedding) input
        output, hidden = self.gru(embedded, hidden)
        return self.out(output[0]), hidden


def train_pair(source, target, encoder, decoder, device, *, teacher):
    hidden = torch.zeros(1, 1, 8, device=device)  # move D
    for word in source:
        # entered A C D; fix A: encoder; fix C: word; fix D: hidden
        _, hidden = encoder(word, hidden)
    word = torch.tensor([[SOS]], device=device)  # move E
    loss = 0
    for expected in target:
        logits, hidden = decoder(word, hidden)  # entered B E; fix B: decoder; fix E: word
        loss += nn.functional.cross_entropy(logits, expected.view(1))  # raises F: expected, logits; fix F: target
        word = expected.view(1, 1) if teacher else logits.topk(1)[1].detach()
        if not teacher and word.item() == EOS:
            break
    return loss


def train(device):
    encoder = EncoderRNN(9, 8).to(device)  # move A; model encoder
    decoder = DecoderRNN(9, 8).to(device)  # move B; model decoder
    optimizers = [torch.optim.SGD(net.parameters(), lr=0.01) for net in (encoder, decoder)]
    for step in range(2):
        source = torch.randint(2, 9, (3, 1, 1)).to(device)  # move C
        target = torch.tensor([4, 5, EOS], device=device)  # move F
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = train_pair(source, target, encoder, decoder, device, teacher=step == 0)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
