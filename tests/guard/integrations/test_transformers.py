from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from transformers import (
    BatchEncoding,
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainingArguments,
)

from runtime_guard import DeviceMismatchError, guard
from runtime_guard.transformers import DeviceGuardCallback

SMALL = {"vocab_size": 20, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 2}


class Watched(BertForSequenceClassification):
    """Notes how many hooks there are at each call."""

    def forward(self, input_ids, attention_mask, labels=None):
        self.__dict__.setdefault("hooks", []).append(hooks_of(self))
        return super().forward(input_ids, attention_mask, self.segments(input_ids), labels=labels)

    def segments(self, input_ids):
        return torch.zeros_like(input_ids)


class Misplaced(Watched):
    def segments(self, input_ids):
        return torch.zeros_like(input_ids, device="meta")


class Converting(Watched):
    def segments(self, input_ids):
        return torch.from_numpy(torch.zeros_like(input_ids, device="meta").numpy())


def hooks_of(model: nn.Module) -> int:
    return sum(len(module._forward_pre_hooks) for module in model.modules())


def bert(kind: Any = Watched) -> Any:
    torch.manual_seed(0)
    return kind(BertConfig(**SMALL, num_attention_heads=2, max_position_embeddings=8))


def rows() -> list[dict[str, Any]]:
    return [
        {
            "input_ids": torch.arange(6) + index,
            "attention_mask": torch.ones(6, dtype=torch.long),
            "labels": torch.tensor(index % 2),
        }
        for index in range(4)
    ]


def trainer(model: nn.Module, folder: Any, *callbacks: Any, **options: Any) -> Any:
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=2,
        per_device_train_batch_size=2,
        per_device_eval_batch_size=2,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1,
        dataloader_pin_memory=False,
        **options,
    )
    return Trainer(
        model, arguments, train_dataset=rows(), eval_dataset=rows(), callbacks=list(callbacks)
    )


def losses_of(trained: Any) -> list[float]:
    return [entry["loss"] for entry in trained.state.log_history if "loss" in entry]


def test_a_right_training_learns_the_same_without_a_word(tmp_path):
    bare = trainer(bert(), tmp_path, eval_strategy="steps", eval_steps=1)
    bare.train()
    watch = DeviceGuardCallback()
    guarded = trainer(bert(), tmp_path, watch, eval_strategy="steps", eval_steps=1)
    guarded.train()
    assert losses_of(guarded) == losses_of(bare)
    assert len(losses_of(guarded)) == 2
    assert watch.mismatches == ()
    # Two steps, each with an evaluation of two batches after it: all of them guarded.
    assert len(guarded.model.hooks) == 6
    assert 0 not in guarded.model.hooks
    assert hooks_of(guarded.model) == 0


def test_a_wrong_training_is_told_with_module_argument_and_lines(tmp_path):
    watch = DeviceGuardCallback(meta=True)
    wrong = trainer(bert(Misplaced), tmp_path, watch)
    with pytest.raises(DeviceMismatchError) as caught:
        wrong.train()
    (found,) = caught.value.mismatches
    assert found.module == "bert.embeddings.token_type_embeddings"
    assert found.module_class == "Embedding"
    assert (found.argument, found.tensor.device, found.expected) == ("input", "meta", "cpu")
    assert found.failed_at is not None
    assert "token_type_embeddings(" in found.failed_at.text
    assert found.entered_at is not None
    assert found.entered_at.text == "outputs = model(**inputs)"
    assert found.launched_at is not None
    assert found.launched_at.text == "wrong.train()"
    assert watch.mismatches == (found,)


def test_what_a_failed_training_leaves_goes_with_remove_or_the_next_training(tmp_path):
    watch = DeviceGuardCallback(meta=True)
    wrong = trainer(bert(Misplaced), tmp_path, watch)
    for _ in range(2):
        with pytest.raises(DeviceMismatchError):
            wrong.train()
        left = hooks_of(wrong.model)
        assert left == wrong.model.hooks[0] > 0
    watch.remove()
    assert hooks_of(wrong.model) == 0


def test_an_evaluation_alone_is_guarded_from_its_second_batch_on(tmp_path):
    right = trainer(bert(), tmp_path, DeviceGuardCallback())
    right.evaluate()
    first, second = right.model.hooks
    assert first == 0 < second
    assert hooks_of(right.model) == 0
    right.predict(rows())
    assert right.model.hooks[2:] == [first, second]
    assert hooks_of(right.model) == 0


def test_a_guard_around_the_trainer_sees_everything_and_explains(tmp_path):
    right = trainer(bert(), tmp_path)
    with guard(right.model):
        right.train()
        right.evaluate()
    assert 0 not in right.model.hooks
    wrong = trainer(bert(Converting), tmp_path)
    explained = r"to numpy[^$]*torch\.from_numpy"
    with pytest.raises(TypeError, match=explained), guard(wrong.model):
        wrong.train()
    assert hooks_of(wrong.model) == 0


def test_options_reach_the_guard(tmp_path):
    watch = DeviceGuardCallback(steps=1, only="bert.encoder.*")
    right = trainer(bert(), tmp_path, watch)
    right.train()
    first, second = right.model.hooks
    assert first > 0 == second
    with pytest.raises(ValueError, match="every is 0"):
        DeviceGuardCallback(every=0)


class Generator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gpt = GPT2LMHeadModel(
            GPT2Config(vocab_size=20, n_positions=8, n_embd=8, n_layer=1, n_head=2)
        )
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, batch):
        return self.gpt(**batch).logits * self.scale


def test_a_batch_encoding_is_looked_into():
    model = Generator()
    batch = BatchEncoding({"input_ids": torch.arange(4)[None], "attention_mask": torch.ones(1, 4)})
    with guard(model, meta=True):
        model(batch)
        batch["attention_mask"] = batch["attention_mask"].to("meta")
        with pytest.raises(DeviceMismatchError) as caught:
            model(batch)
    (found,) = caught.value.mismatches
    assert found.argument == 'batch["attention_mask"]'
    assert found.name == "Generator"
