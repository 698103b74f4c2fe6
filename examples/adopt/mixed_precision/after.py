"""Mixed precision and checkpoints, written for CUDA: it resumes from the last checkpoint there is."""

import os
import tempfile

import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

EPOCHS = 3
CHECKPOINT = os.path.join(tempfile.mkdtemp(), "checkpoint.pt")


def make_loader(count):
    inputs = torch.randn(count, 20)
    targets = (inputs[:, :5].sum(dim=1) > 0).long()
    return DataLoader(TensorDataset(inputs, targets), batch_size=32, shuffle=True, pin_memory=True)


def build():
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    return model, optimizer, torch.amp.GradScaler(device.type, enabled=device.type != "cpu")


def save(epoch, model, optimizer, scaler):
    torch.save(
        {
            "epoch": epoch,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scaler": scaler.state_dict(),
        },
        CHECKPOINT,
    )


def load(model, optimizer, scaler):
    if not os.path.exists(CHECKPOINT):
        return 0
    checkpoint = torch.load(CHECKPOINT, map_location=device)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scaler.load_state_dict(checkpoint["scaler"])
    return checkpoint["epoch"] + 1


def train_epoch(model, optimizer, scaler, loader):
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1).to(device)
    for inputs, targets in loader:
        inputs = inputs.to(device, non_blocking=True)
        targets = targets.to(device, non_blocking=True)
        optimizer.zero_grad()
        with torch.autocast(device_type=device.type, enabled=device.type != "cpu"):
            loss = criterion(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return loss.item()


def main():
    torch.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    loader = make_loader(96)
    for _ in range(EPOCHS):
        model, optimizer, scaler = build()
        epoch = load(model, optimizer, scaler)
        loss = train_epoch(model, optimizer, scaler, loader)
        print(f"epoch {epoch}: loss {loss:.3f}")
        save(epoch, model, optimizer, scaler)
    if torch.cuda.is_available():
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
