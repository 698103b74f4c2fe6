"""A batch that is a dictionary, moved by a helper, and a model that computes its own loss."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Tweets(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        ids = torch.randint(20, (5,))
        item = {"input_ids": ids, "attention_mask": (ids > 4).float(), "labels": index % 2}
        item["meta"] = {"weights": torch.ones(2), "name": f"tweet {index}"}
        return item


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 6)
        self.query = nn.Parameter(torch.randn(6))
        self.score = nn.Linear(6, 2)

    def forward(self, input_ids, attention_mask, labels=None):
        # explained A B C: embed (Embedding) input
        vectors = self.embed(input_ids)  # fails D: embed (Embedding) input
        weights = (vectors @ self.query).softmax(-1)
        weights = weights * attention_mask  # explained E: Classifier attention_mask
        logits = self.score((weights.unsqueeze(-1) * vectors).sum(1))
        if labels is None:
            return {"logits": logits}
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, labels)}


def to_device(batch, device):
    return {
        key: value.to(device) if torch.is_tensor(value) else value  # move B
        for key, value in batch.items()
    }


def train(device):
    loader = DataLoader(Tweets(), batch_size=3)
    model = Classifier().to(device)  # move A; model model
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        batch.pop("meta")
        batch = to_device(batch, device)  # move C
        # fails A: Classifier input_ids; fails B C: Classifier attention_mask
        outputs = model(**batch)  # entered A B C; fix A: model; fix B: batch; fix C: batch
        loss = outputs["loss"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for batch in loader:
        ids = batch["input_ids"].to(device)  # move D
        mask = batch["attention_mask"].to(device)  # move E
        with torch.no_grad():
            # fails E: Classifier attention_mask; fix D: ids; fix E: mask
            logits = model(ids, attention_mask=mask)["logits"]  # entered D E
        guess = logits.argmax(-1).cpu()  # move F
        assert guess.eq(batch["labels"]).shape == (3,)  # raises F: batch["labels"], guess
