"""An LSTM that reads the next letter off a text. A flag of its own decides about each move."""

import numpy as np
import torch
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog. " * 20
SEQUENCES, LENGTH, EPOCHS = 8, 25, 2

letters = sorted(set(TEXT))
number_of = {letter: number for number, letter in enumerate(letters)}
encoded = np.array([number_of[letter] for letter in TEXT])

train_on_gpu = torch.cuda.is_available()
if train_on_gpu:
    print("Training on GPU!")
else:
    print("No GPU available, training on CPU.")


def one_hot(numbers, size):
    encoding = np.zeros((*numbers.shape, size), dtype=np.float32)
    np.put_along_axis(encoding, numbers[..., None], 1.0, axis=-1)
    return encoding


def batches(numbers):
    per_row = (len(numbers) - 1) // (SEQUENCES * LENGTH) * LENGTH
    inputs = numbers[: SEQUENCES * per_row].reshape(SEQUENCES, per_row)
    targets = numbers[1 : SEQUENCES * per_row + 1].reshape(SEQUENCES, per_row)
    for start in range(0, per_row, LENGTH):
        yield inputs[:, start : start + LENGTH], targets[:, start : start + LENGTH]


class LetterRNN(nn.Module):
    def __init__(self, size, hidden=64, layers=2):
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.lstm = nn.LSTM(size, hidden, layers, batch_first=True)
        self.fc = nn.Linear(hidden, size)

    def forward(self, x, state):
        output, state = self.lstm(x, state)
        return self.fc(output.reshape(-1, self.hidden)), state

    def init_hidden(self, rows):
        if train_on_gpu:
            return (
                torch.zeros(self.layers, rows, self.hidden).cuda(),
                torch.zeros(self.layers, rows, self.hidden).cuda(),
            )
        return (
            torch.zeros(self.layers, rows, self.hidden),
            torch.zeros(self.layers, rows, self.hidden),
        )


def train(net):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    if train_on_gpu:
        net.cuda()
    net.train()
    for epoch in range(EPOCHS):
        state = net.init_hidden(SEQUENCES)
        for x, y in batches(encoded):
            inputs, targets = torch.from_numpy(one_hot(x, len(letters))), torch.from_numpy(y)
            if train_on_gpu:
                inputs, targets = inputs.cuda(), targets.cuda()
            state = tuple(each.detach() for each in state)
            net.zero_grad()
            output, state = net(inputs, state)
            loss = criterion(output, targets.reshape(-1))
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5)
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")


def predict(net, letter, state):
    x = torch.from_numpy(one_hot(np.array([[number_of[letter]]]), len(letters)))
    if train_on_gpu:
        x = x.cuda()
    output, state = net(x, state)
    chances = nn.functional.softmax(output, dim=1).data
    if train_on_gpu:
        chances = chances.cpu()
    chances = chances.numpy().squeeze()
    return letters[np.random.choice(len(letters), p=chances / chances.sum())], state


if __name__ == "__main__":
    torch.manual_seed(0)
    np.random.seed(0)
    net = LetterRNN(len(letters))
    train(net)
    net.eval()
    state, written = net.init_hidden(1), ["t"]
    with torch.no_grad():
        for _ in range(30):
            letter, state = predict(net, written[-1], state)
            written.append(letter)
    print("".join(written))
