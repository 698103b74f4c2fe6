"""A detector of bright squares. Each picture comes with a dictionary of its boxes and labels."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE, CELLS, EPOCHS = 32, 4, 2


class Squares(Dataset):
    def __init__(self, count):
        self.items = [self.make() for _ in range(count)]

    def make(self):
        image = 0.1 * torch.randn(1, SIZE, SIZE)
        boxes, labels = [], []
        for _ in range(int(torch.randint(1, 4, ()))):
            x, y = torch.randint(0, SIZE - 8, (2,)).tolist()
            label = int(torch.randint(0, 2, ()))
            image[0, y : y + 8, x : x + 8] += 1.0 + label
            boxes.append([x, y, x + 8, y + 8])
            labels.append(label)
        target = {
            "boxes": torch.tensor(boxes, dtype=torch.float32),
            "labels": torch.tensor(labels),
        }
        return image, target

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate_fn(batch):
    return tuple(zip(*batch))


class Detector(nn.Module):
    """Looks at a picture in cells; each says whether a square has its middle there, and which."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(CELLS),
        )
        self.head = nn.Conv2d(16, 7, 1)
        self.anchors = torch.tensor([8.0, 8.0])

    def forward(self, images, targets=None):
        output = self.head(self.body(torch.stack(images))).permute(0, 2, 3, 1)
        if targets is None:
            return self.found(output)
        return self.losses(output, targets)

    def losses(self, output, targets):
        wanted = torch.zeros(len(targets), CELLS, CELLS)
        box_loss, label_loss = 0.0, 0.0
        for index, target in enumerate(targets):
            middles = (target["boxes"][:, :2] + target["boxes"][:, 2:]) / 2
            columns, rows = (middles * CELLS / SIZE).long().unbind(dim=1)
            wanted[index, rows, columns] = 1.0
            cells = output[index, rows, columns]
            sizes = (target["boxes"][:, 2:] - target["boxes"][:, :2]) / self.anchors
            box_loss = box_loss + nn.functional.l1_loss(cells[:, 1:3], sizes)
            label_loss = label_loss + nn.functional.cross_entropy(cells[:, 5:], target["labels"])
        there = nn.functional.binary_cross_entropy_with_logits(output[..., 0], wanted)
        return {"there": there, "boxes": box_loss, "labels": label_loss}

    def found(self, output):
        return [
            {"scores": each[..., 0].sigmoid(), "labels": each[..., 5:].argmax(-1)}
            for each in output
        ]


def evaluate(model, loader):
    model.eval()
    results = []
    with torch.no_grad():
        for images, targets in loader:
            outputs = model(images)
            for output, target in zip(outputs, targets):
                seen = (output["scores"] > 0.5).sum()
                results.append((seen.item(), len(target["labels"])))
    return results


def main():
    torch.manual_seed(0)
    loader = DataLoader(Squares(24), batch_size=4, shuffle=True, collate_fn=collate_fn)
    test_loader = DataLoader(Squares(8), batch_size=4, collate_fn=collate_fn)
    model = Detector()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(parameters, lr=0.02, momentum=0.9)
    for epoch in range(EPOCHS):
        model.train()
        for images, targets in loader:
            loss_dict = model(images, targets)
            losses = sum(loss for loss in loss_dict.values())
            optimizer.zero_grad()
            losses.backward()
            optimizer.step()
        print(f"epoch {epoch}:", {name: round(float(loss), 3) for name, loss in loss_dict.items()})
    print(evaluate(model, test_loader))


if __name__ == "__main__":
    main()
