"""The examples: what the guard says of the broken ones, and that it says nothing of the fixed ones.

They run on the virtual GPU, as they are.
"""

from __future__ import annotations

import re
import runpy
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

import runtime_guard
from runtime_guard import DeviceMismatchError
from runtime_guard.messages.explain import annotate
from tests.guard.notes import note_of

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in (EXAMPLES / "broken").glob("*.py"))
FIXED = sorted((EXAMPLES / "fixed").glob("*.py"))

pytestmark = pytest.mark.filterwarnings("ignore:'pin_memory' argument is set")


@dataclass(frozen=True)
class Report:
    """What must be said of a script, once the mistakes named in `mended` are no more."""

    script: str
    story: str
    failed: int
    entered: int | None
    advice: str
    mended: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.script}-{self.failed}"


REPORTS = (
    Report(
        "class_weights",
        "cross_entropy() has argument 'input' on cuda:0, but argument 'weight' is on cpu",
        failed=59,
        entered=None,
        advice="class_weights = class_weights.to(device)",
    ),
    Report(
        "cpu_batches",
        "features.0 (Conv2d) has parameter 'weight' on cuda:0, but argument 'input' is on cpu",
        failed=30,
        entered=54,
        advice="inputs = inputs.to(device)",
    ),
    Report(
        "cpu_batches",
        "CrossEntropyLoss has argument 'input' on cuda:0, but argument 'target' is on cpu",
        failed=55,
        entered=55,
        advice="labels = labels.to(device)",
        mended=(("model(inputs)", "model(inputs.to(device))"),),
    ),
    Report(
        "discarded_move",
        "encoder.0 (Linear) has parameter 'weight' on cuda:0, but argument 'input' is on cpu",
        failed=24,
        entered=52,
        advice="images = images.to(device)",
    ),
    Report(
        "layers_in_a_list",
        "blocks[0].norm (LayerNorm) has parameter 'weight' on cpu, but argument 'input' is on",
        failed=21,
        entered=75,
        advice="self.blocks = nn.ModuleList(",
    ),
    Report(
        "metric_accumulator",
        "variable 'hits' is on cpu",
        failed=52,
        entered=None,
        advice="hits = hits.to(device)",
    ),
    Report(
        "numpy_without_cpu",
        "`loss` is on cuda:0, and has to be on cpu",
        failed=42,
        entered=None,
        advice="loss.detach().cpu()",
    ),
    Report(
        "state_created_in_forward",
        "variable 'mask' is on cpu",
        failed=29,
        entered=65,
        advice="device=x.device` in the call that makes it, at state_created_in_forward.py:28",
    ),
    Report(
        "state_created_in_forward",
        "gru (GRU) has parameter 'weight_ih_l0' on cuda:0, but argument 'hx' is on cpu",
        failed=31,
        entered=65,
        advice="h0 = torch.zeros(self.num_layers, batch_size, self.hidden_size, device=x.device)",
        mended=(("steps, 1) < 0.05", "steps, 1, device=x.device) < 0.05"),),
    ),
    Report(
        "validation_not_moved",
        "0 (Conv2d) has parameter 'weight' on cuda:0, but argument 'input' is on cpu",
        failed=48,
        entered=48,
        advice="inputs = inputs.to(device)",
    ),
    Report(
        "validation_not_moved",
        "CrossEntropyLoss has argument 'input' on cuda:0, but argument 'target' is on cpu",
        failed=49,
        entered=49,
        advice="targets = targets.to(device)",
        mended=(("outputs = model(inputs)", "outputs = model(inputs.to(device))"),),
    ),
)

SILENT = {
    "cuda_checkpoint": "fails only where the checkpoint of a GPU is loaded and there is no GPU",
    "hard_coded_cuda": "fails only where there is no GPU",
    "optimizer_moved": "fails everywhere, and not about devices: an optimizer has no `to`",
}
"""The broken scripts of which a guard on an accelerator has nothing to say, and why."""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a script's text as `python script.py` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run_it(name: str, text: str):
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr("sys.argv", [str(path)])
        runpy.run_path(str(path), run_name="__main__")

    return run_it


def source(folder: str, name: str) -> str:
    return (EXAMPLES / folder / f"{name}.py").read_text(encoding="utf-8")


def test_every_broken_example_is_reported_or_has_a_reason_not_to_be():
    assert sorted({report.script for report in REPORTS} | set(SILENT)) == NAMES
    assert not {report.script for report in REPORTS} & set(SILENT)


@pytest.mark.parametrize("way", ["install", "explain"])
@pytest.mark.parametrize("report", REPORTS, ids=str)
def test_a_broken_example_is_told_what_is_wrong(report, way, run):
    text = briefly(source("broken", report.script))
    for mistake, mended in report.mended:
        assert mistake in text
        text = text.replace(mistake, mended)
    story = told(lambda: run(report.script, text), way)
    here = re.escape(f"{report.script}.py:")
    assert report.story in story, story
    assert re.search(rf"failed at: {here}{report.failed}:", story), story
    if report.entered not in (None, report.failed):
        assert re.search(rf"entered at: {here}{report.entered}:", story), story
    assert re.search(rf"to fix it: .*{re.escape(report.advice)}", story), story


def told(action, way: str) -> str:
    """What the user reads of the error that ends `action`, in one line."""
    checked = runtime_guard.install() if way == "install" else nullcontext()
    with pytest.raises((RuntimeError, TypeError)) as raised, runtime_guard.virtual_gpu(), checked:
        action()
    annotate(raised.value)
    if isinstance(raised.value, DeviceMismatchError):
        return " ".join(str(raised.value).split())
    return " ".join(note_of(raised.value).split())


@pytest.mark.parametrize("name", sorted({"cuda_checkpoint", "hard_coded_cuda"}))
def test_a_broken_example_that_runs_on_an_accelerator_is_left_alone(name, run, capfd):
    with runtime_guard.virtual_gpu(), runtime_guard.install() as handle:
        run(name, briefly(source("broken", name)))
    assert handle.mismatches == []


def test_an_error_that_is_not_about_devices_is_left_as_it_is(run):
    with (
        pytest.raises(AttributeError) as raised,
        runtime_guard.virtual_gpu(),
        runtime_guard.install() as handle,
    ):
        run("optimizer_moved", source("broken", "optimizer_moved"))
    assert not hasattr(raised.value, "__notes__")
    assert handle.mismatches == []


@pytest.mark.parametrize("path", FIXED, ids=lambda path: path.stem)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_fixed_example_trains_under_the_guard_without_a_word(path, device, run, capfd):
    text = briefly(source("fixed", path.stem))
    if device == "cuda":
        with runtime_guard.virtual_gpu(), runtime_guard.install() as handle:
            run(path.stem, text)
    else:
        with runtime_guard.install() as handle:
            run(path.stem, text)
    assert handle.steps_done > 0
    assert handle.mismatches == []
    assert "runtime_guard" not in "".join(capfd.readouterr())


def briefly(text: str) -> str:
    """The script with one epoch in place of many."""
    text, first = re.subn(r"(epoch in range\(1, )\d+", r"\g<1>2", text)
    several = r"(EPOCHS = |epoch in range\(|epochs=|epochs\", type=int, default=)\d+\b(?!,)"
    text, others = re.subn(several, r"\g<1>1", text)
    assert first + others
    return text
