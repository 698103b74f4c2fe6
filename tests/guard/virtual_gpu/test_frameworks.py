"""Trainings of frameworks: on a virtual GPU what they are on the CPU, and mistakes are refused."""

import warnings

import lightning.pytorch as lightning
import numpy as np
import pytest
import torch
from accelerate import Accelerator, dispatch_model
from accelerate.state import AcceleratorState, GradientState
from skorch import NeuralNetClassifier
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import (
    MixtralConfig,
    MixtralForCausalLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from runtime_guard import virtual_gpu

with warnings.catch_warnings():
    # ignite still scripts functions when it is imported.
    warnings.filterwarnings("ignore", "`torch.jit", DeprecationWarning)
    from ignite.engine import Events, create_supervised_trainer

pytestmark = [
    pytest.mark.filterwarnings("ignore::runtime_guard.VirtualGpuWarning"),
    # Lightning flattens its loaders with a class of torch's that is on its way out.
    pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec.` is deprecated"),
    # Its advice on real trainings: workers for the loaders, the size of a batch.
    pytest.mark.filterwarnings("ignore::lightning.fabric.utilities.warnings.PossibleUserWarning"),
    pytest.mark.filterwarnings("ignore:GPU available but not used"),
]

REFUSED = "Expected all tensors to be on the same device"


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))


def loader(**options):
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(12, 4, generator=generator)
    return DataLoader(TensorDataset(rows, torch.arange(12) % 2), batch_size=4, **options)


def on_both(train):
    """What a training gives on the CPU, and what on a virtual GPU."""
    expected = train("cpu")
    with virtual_gpu():
        return expected, train("cuda")


def accelerated(device, precision="no", weights=None):
    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()
    accelerator = Accelerator(
        cpu=device == "cpu", mixed_precision=precision, gradient_accumulation_steps=2
    )
    model = net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    model, optimizer, batches = accelerator.prepare(
        model, optimizer, loader(pin_memory=device == "cuda")
    )
    losses = []
    for rows, targets in batches:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(rows), targets, weight=weights)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        losses.append((loss.device.type, accelerator.gather(loss).item()))
    return [kind for kind, _ in losses], [value for _, value in losses]


@pytest.fixture
def fresh():
    yield
    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_accelerate_trains_the_same(precision, fresh):
    (_, expected), (kinds, losses) = on_both(lambda device: accelerated(device, precision))
    assert (kinds, losses) == (["cuda"] * 3, expected)


def test_accelerate_scales_losses_of_halves(fresh):
    with virtual_gpu():
        kinds, losses = accelerated("cuda", "fp16")
    assert kinds == ["cuda"] * 3
    assert all(np.isfinite(losses))


def test_weights_that_accelerate_was_not_given_are_refused(fresh):
    with virtual_gpu(), pytest.raises(RuntimeError, match=f"{REFUSED}, but got weight is on cpu"):
        accelerated("cuda", weights=torch.ones(2))


def test_accelerate_spreads_a_model_over_two_devices():
    rows = torch.ones(3, 4)
    expected = net().eval()(rows)
    with virtual_gpu(2):
        model = dispatch_model(net().eval(), {"0": 0, "1": 0, "2": 1, "3": 1})
        assert [str(p.device) for p in (model[0].weight, model[3].weight)] == ["cuda:0", "cuda:1"]
        assert torch.equal(model(rows).cpu(), expected)
        with pytest.raises(RuntimeError, match=f"{REFUSED}, but got mat1 is on cuda:0"):
            model[3].forward.__wrapped__(torch.ones(1, 8, device="cuda:0"))


class Lit(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = net()
        self.weights = None
        self.losses = []

    def training_step(self, batch, index):
        rows, targets = batch
        loss = nn.functional.cross_entropy(self.net(rows), targets, weight=self.weights)
        self.losses.append((loss.device.type, loss.item()))
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.1)


def lit(device, precision="32-true", weights=None):
    model = Lit()
    model.weights = weights
    lightning.Trainer(
        accelerator="gpu" if device == "cuda" else "cpu",
        devices=1,
        precision=precision,
        max_epochs=2,
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    ).fit(model, loader())
    return model.losses


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
def test_lightning_trains_the_same(precision):
    expected, losses = on_both(lambda device: lit(device, precision))
    assert losses == [("cuda", value) for _, value in expected]


def test_lightning_does_not_move_what_is_no_buffer():
    with virtual_gpu(), pytest.raises(RuntimeError, match=f"{REFUSED}, but got weight is on cpu"):
        lit("cuda", weights=torch.ones(2))


def experts():
    torch.manual_seed(0)
    small = {"hidden_size": 16, "intermediate_size": 16, "vocab_size": 20, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "num_local_experts": 2}
    return MixtralForCausalLM(MixtralConfig(**small, **heads))


class Losses(TrainerCallback):
    def __init__(self):
        self.kept = []

    def on_log(self, args, state, control, logs=None, **more):
        self.kept += [logs[name] for name in ("loss", "grad_norm") if name in logs]


def mixture(folder, device):
    """The losses of a mixture of experts, which counts in integers on CUDA alone."""
    model, losses = experts(), Losses()
    rows = [{"input_ids": row, "labels": row} for row in torch.randint(20, (6, 5))]
    options = {"max_steps": 2, "logging_steps": 1, "report_to": [], "save_strategy": "no"}
    arguments = TrainingArguments(
        str(folder), use_cpu=device == "cpu", disable_tqdm=True, seed=0, **options
    )
    Trainer(model, arguments, train_dataset=rows, callbacks=[losses]).train()
    return model.device.type, losses.kept


def test_transformers_trains_experts_the_same(tmp_path, fresh):
    (_, expected), (kind, losses) = on_both(lambda device: mixture(tmp_path, device))
    assert (kind, losses) == ("cuda", expected)
    assert len(losses) == 4


def test_tokens_that_nobody_moved_are_refused():
    with virtual_gpu():
        model = experts().to("cuda")
        with pytest.raises(RuntimeError, match=f"{REFUSED}, but got index is on cpu"):
            model(torch.ones(2, 3, dtype=torch.long))


def ignited(device, moved=True):
    model = net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    engine = create_supervised_trainer(
        model, optimizer, nn.functional.cross_entropy, device=device if moved else None
    )
    losses: list[float] = []
    engine.add_event_handler(
        Events.ITERATION_COMPLETED, lambda engine: losses.append(engine.state.output)
    )
    engine.run(loader(num_workers=1, pin_memory=device == "cuda"), max_epochs=2)
    return next(model.parameters()).device.type, losses


def test_ignite_trains_the_same():
    (_, expected), (kind, losses) = on_both(ignited)
    assert (kind, losses) == ("cuda", expected)


def test_ignite_without_a_device_is_refused():
    with virtual_gpu(), pytest.raises(RuntimeError, match=f"{REFUSED}, but got mat1 is on cpu"):
        ignited("cuda", moved=False)


class Shifted(nn.Module):
    def __init__(self, shift=0.0):
        super().__init__()
        self.net = net()
        self.shift = shift

    def forward(self, rows):
        return self.net(rows) + self.shift


def skorched(device, shift=0.0):
    rows = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")
    classifier = NeuralNetClassifier(
        Shifted,
        module__shift=shift,
        criterion=nn.CrossEntropyLoss,
        device=device,
        max_epochs=2,
        train_split=None,
        verbose=0,
    ).fit(rows, np.arange(12) % 2)
    kind = next(classifier.module_.parameters()).device.type
    return kind, [*classifier.history[:, "train_loss"], *classifier.predict_proba(rows)[:, 0]]


def test_skorch_trains_the_same():
    (_, expected), (kind, figures) = on_both(skorched)
    assert (kind, figures) == ("cuda", expected)


def test_skorch_does_not_move_what_is_no_buffer():
    with virtual_gpu(), pytest.raises(RuntimeError, match="at least two devices, cuda:0 and cpu!"):
        skorched("cuda", shift=torch.ones(2))
