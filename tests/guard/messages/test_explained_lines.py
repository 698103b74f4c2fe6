"""Which of what a line computes with is blamed: nothing that is not on the line."""

import importlib
import linecache
import re
import sys

import pytest
import torch
from torch import distributed, nn

import runtime_guard
from runtime_guard.messages.message import HEAD, WIDTH
from tests.guard.messages.test_explain import META, note_of, raised, said_by, unfolded


def elsewhere(*sizes):
    return torch.zeros(*sizes)


def test_what_a_line_makes_is_blamed_and_not_what_else_lies_there():
    def join():
        images, scores = torch.rand(4, 8), torch.zeros(4, device=META)
        joined = torch.cat([scores, torch.zeros(4)])
        return joined, images

    note = note_of(join)
    assert note.startswith("join() has variable 'scores' on meta, but `torch.zeros(4)` is made on")
    assert "write `torch.zeros(4, device=scores.device)` in place of `torch.zeros(4)` at " in (
        unfolded(note)
    )
    assert "images" not in note


def test_so_it_is_in_a_script_and_where_the_block_of_the_handle_ends(tmp_path, monkeypatch):
    script = tmp_path / "failing_script.py"
    script.write_text(
        "import torch, runtime_guard\n"
        'images = torch.rand(4, 8); scores = torch.zeros(4, device="meta")\n'
        "with runtime_guard.explain():\n"
        "    torch.cat([scores, torch.zeros(4)])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    error = raised(importlib.import_module, "failing_script")
    note = said_by(error).partition(HEAD)[2]
    assert note.startswith("this line has variable 'scores' on meta, but `torch.zeros(4)` is made")
    assert "images" not in note


@pytest.mark.parametrize(
    ("code", "blamed"),
    [
        ("scores + torch.zeros(4)", "`torch.zeros(4)` is made on cpu"),
        ("scores * (torch.ones(4) - 1)", "`torch.ones(4)` is made on cpu"),
        ("torch.cat([scores, torch.tensor([1.0])])", "`torch.tensor([1.0])` is made on cpu"),
        ("torch.cat([scores, elsewhere(4)])", "what `elsewhere(4)` returns is on another device"),
        ("torch.where(scores > 0, scores, elsewhere(4))", "what `elsewhere(4)` returns is on"),
        ("scores - torch.tensor(2.0) * elsewhere(4)", "what `elsewhere(4)` returns is on another"),
        ("torch.cat([scores, images[:, 0].flatten()])", "variable 'images' is on cpu"),
    ],
)
def test_the_operand_without_a_name_is_found(code, blamed, tmp_path, monkeypatch):
    (tmp_path / "operands.py").write_text(
        "import torch\nfrom tests.guard.messages.test_explained_lines import elsewhere\n"
        f"def run(scores, images, unrelated):\n    return {code}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "operands", raising=False)
    scores, images = torch.zeros(4, device=META), torch.ones(4, 8)
    note = note_of(importlib.import_module("operands").run, scores, images, images)
    assert f"run() has variable 'scores' on meta, but {blamed}" in unfolded(note)
    assert "unrelated" not in note


def test_where_no_name_explains_it_the_rest_is_listed_and_nothing_advised():
    def step(hidden, images):
        torch.cat([elsewhere(2).to(META), elsewhere(2).to("cpu")])
        return hidden, images

    note = note_of(step, torch.ones(2, device=META), torch.ones(2))
    assert "to fix it" not in note
    assert note.endswith("  on meta:    hidden\n  on cpu:     images")


def test_under_a_default_device_the_names_are_those_of_the_line():
    def join(scores, images):
        return torch.cat([scores, images])

    def add(x):
        return x + torch.ones(4)

    torch.set_default_device(META)
    try:
        note = note_of(join, torch.ones(4), torch.ones(4, device="cpu"))
        added = note_of(add, torch.ones(4, device="cpu"))
    finally:
        torch.set_default_device(None)
    assert note.startswith("join() has variable 'scores' on meta, but variable 'images' is on cpu")
    assert "write `images = images.to(scores.device)` before" in unfolded(note)
    assert "add() has variable 'x' on cpu, but `torch.ones(4)` is made on meta" in unfolded(added)
    assert 'write `x = x.to("meta")` before' in unfolded(added)


def test_a_subclass_of_tensor_does_not_stand_between_the_error_and_its_line():
    class Tagged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    def mix(tagged, mask):
        return tagged * mask

    note = note_of(mix, torch.ones(2, device=META).as_subclass(Tagged), torch.ones(2))
    assert note.startswith("mix() has variable 'tagged' on meta, but variable 'mask' is on cpu")


def test_a_view_on_the_line_leads_to_its_variable():
    def train(logits, y, unrelated):
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        return loss, unrelated

    y = torch.zeros(2, 3, dtype=torch.long)
    note = note_of(train, torch.rand(2, 3, 4, device=META), y, torch.ones(1))
    assert "write `y = y.to(logits.device)` before" in unfolded(note)
    assert note.endswith("  on meta:    logits\n  on cpu:     y")


def test_a_list_of_tensors_is_moved_at_once():
    def join(parts):
        return torch.stack(parts)

    note = note_of(join, [torch.ones(2, device=META), torch.ones(2), torch.ones(2)])
    assert note.count("to fix it") == 1
    assert "write `parts = [each.to(" in note


@pytest.mark.parametrize("action", ["warn", "raise"])
@pytest.mark.filterwarnings("ignore::runtime_guard.DeviceMismatchWarning")
def test_under_a_guard_a_layer_without_a_bias_is_named(action):
    def train(net, x):
        return net(x)

    with runtime_guard.virtual_gpu():
        net = nn.Sequential(nn.Linear(4, 4, bias=False)).to("cuda")
        with runtime_guard.guard(net, action=action, skip="*" if action == "raise" else ()):
            note = note_of(train, net, torch.ones(2, 4))
    assert note.startswith("0 (Linear) has parameter 'weight' on cuda:0, but argument 'input' is")


def test_lines_are_no_wider_than_a_terminal_with_the_name_in_front():
    class ALayerOfAnEncoderWithANameThatIsAsLongAsItsPaperIs(nn.Module):
        def __init__(self):
            super().__init__()
            self.feed_forward_network = nn.Sequential(nn.Linear(4, 4))

        def forward(self, x):
            return self.feed_forward_network(x)

    net = nn.Sequential(ALayerOfAnEncoderWithANameThatIsAsLongAsItsPaperIs()).to(META)
    notes = [note_of(net, torch.ones(2, 4))]
    notes.append(note_of(lambda: torch.empty(1, device=META).to("cpu")))
    for note in notes:
        assert max(map(len, f"{HEAD}{note}".splitlines())) <= WIDTH
    assert notes[0].partition("\n")[0].endswith("but argument")


def test_the_line_is_read_as_it_is_now(tmp_path, monkeypatch):
    file = tmp_path / "edited_loop.py"
    file.write_text("def run(old, other):\n    return old + other  # before it was edited\n")
    assert linecache.getline(str(file), 2)
    file.write_text("def run(scores, images):\n    return scores + images\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    run = importlib.import_module("edited_loop").run
    note = note_of(run, torch.ones(2, device=META), torch.ones(2))
    assert note.startswith("run() has variable 'scores' on meta, but variable 'images' is on cpu")


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.gain = nn.Parameter(torch.ones(4))
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        hidden = self.fc(x) * self.gain
        return hidden * self.scale


@pytest.mark.parametrize(("rest", "alone"), [("cpu", META), (META, "cpu")])
def test_a_buffer_that_alone_is_elsewhere_is_blamed_and_moved(rest, alone):
    def train(net, data):
        net.scale = torch.ones(4, device=alone)
        return net(data)

    note = unfolded(note_of(train, Scaled().to(rest), torch.ones(2, 4, device=rest)))
    assert note.startswith(f"Scaled has variable 'hidden' on {rest}, but buffer 'scale' is on")
    assert re.search(r"write `net.to\(data.device\)` before \S+: only", note)
    assert f"only buffer 'scale' of Scaled is on {alone}" in note
    assert "hidden = " not in note.partition("to fix it")[2]


def test_of_the_tensors_of_one_module_the_fewest_are_wrong():
    norm = nn.BatchNorm1d(4)
    norm.running_mean = torch.zeros(4, device=META)
    note = note_of(nn.Sequential(norm), torch.ones(3, 4))
    assert note.startswith(
        "0 (BatchNorm1d) has parameter 'weight' on cpu, but buffer 'running_mean' is on meta\n"
    )


@pytest.fixture
def process_group():
    distributed.init_process_group("fake", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@pytest.mark.usefixtures("process_group")
def test_a_model_that_cannot_be_wrapped_is_told_device_by_device():
    def wrap(net):
        return nn.parallel.DistributedDataParallel(net)

    torn = nn.Sequential(nn.Linear(4, 4).to(META), nn.Linear(4, 4), nn.Linear(4, 4).to(META))
    note = note_of(wrap, torn)
    assert note.startswith("Sequential has parameters and buffers on meta and cpu\n")
    assert "write `net.to(device)` before" in note
    assert note.endswith(
        "  on cpu:     1.weight, 1.bias\n  on meta:    0.weight, 0.bias, 2.weight, 2.bias"
    )


@pytest.mark.usefixtures("process_group")
def test_a_model_that_was_not_moved_is_not_told_apart():
    def wrap(net):
        return nn.parallel.DistributedDataParallel(net, device_ids=[0])

    note = unfolded(note_of(wrap, nn.Sequential(nn.Linear(4, 4))))
    assert note.startswith("Sequential has parameters and buffers on cpu failed at:")
    assert "or leave out `device_ids`" in note


def test_what_is_traced_is_told_by_the_line_that_was_compiled():
    class Masked(nn.Module):
        def forward(self, x):
            mask = torch.ones(4)
            return x * mask

    def train(compiled, data):
        return compiled(data)

    torch._dynamo.reset()
    try:
        compiled = torch.compile(Masked(), backend="eager", fullgraph=True)
        note = note_of(train, compiled, torch.ones(2, 4, device=META))
    finally:
        torch._dynamo.reset()
    assert ": return x * mask\n  entered at: " in note
    assert note.endswith(": return compiled(data)\n  on meta:    data")
    assert "without it, this names" in note
