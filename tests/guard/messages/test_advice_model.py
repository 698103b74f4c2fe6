"""What a message tells to write where the model, or what its forward makes, is wrong."""

import pytest
import torch
from torch import nn

from runtime_guard.check.verdict import Fault
from runtime_guard.messages.describe import describe
from tests.guard.advised import META, advice_of, guarded, library, linear, place


def test_what_forward_computes_leads_back_to_what_the_model_was_given():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            x = x / 255
            return self.linear(x)

    def train(model, images):
        model(images)

    (advice,) = advice_of(train, guarded(Scaled().to(META)), torch.ones(2, 3))
    assert advice.startswith("write `images = images.to(")
    assert place("model(images)", train) in advice


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 3)

    def forward(self, x):
        positions = torch.arange(x.shape[1], dtype=torch.long)
        return x + self.table(positions)


def test_what_forward_makes_is_made_on_the_device_of_its_input():
    model = guarded(Positions().to(META))
    assert advice_of(model, torch.ones(2, 3, device=META)) == [
        "write `positions = torch.arange(x.shape[1], dtype=torch.long, device=x.device)` at "
        + place("positions = ", Positions.forward)
    ]


def test_what_is_made_within_a_call_is_made_with_a_device_there():
    class Inline(Positions):
        def forward(self, x):
            return x + self.table(torch.arange(x.shape[1]))

    model = guarded(Inline().to(META))
    assert advice_of(model, torch.ones(2, 3, device=META)) == [
        "write `device=x.device` in the call that makes it, at "
        + place("return x + self", Inline.forward)
    ]


def test_a_loop_variable_is_not_what_an_earlier_line_made():
    def train(model, loader):
        data = torch.ones(1)
        for data in loader:
            model(data)

    assert "`data = data.to(" in advice_of(train, linear(), [torch.ones(2, 3)])[0]


@pytest.mark.parametrize(
    ("learns", "written"),
    [
        (False, 'self.register_buffer("mask", …, persistent=False)'),
        (True, "self.mask = nn.Parameter(…)"),
    ],
)
def test_a_plain_tensor_attribute_becomes_a_buffer_or_a_parameter(learns, written):
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.mask = torch.ones(3, 3, requires_grad=learns)
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return self.linear(self.mask)

    model = guarded(Masked().to(META))
    (advice,) = advice_of(model, torch.ones(2, 3, device=META))
    assert advice.startswith(f"write `{written}` in Masked.__init__, in place of `self.mask = …`")


def test_parameters_in_a_plain_list_belong_in_a_parameter_list():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.scales = [nn.Parameter(torch.ones(2, 3))]
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return self.linear(self.scales[0])

    model = guarded(Listed().to(META))
    (advice,) = advice_of(model, torch.ones(2, 3, device=META))
    assert advice.startswith("write `self.scales = nn.ParameterList(…)` in Listed.__init__")


class Stack(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.stem = nn.Linear(3, 3)
        self.blocks = blocks

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks.values() if isinstance(self.blocks, dict) else self.blocks:
            x = block(x)
        return x


@pytest.mark.parametrize(
    ("blocks", "container"),
    [([nn.Linear(3, 3)], "ModuleList"), ({"a": nn.Linear(3, 3)}, "ModuleDict")],
)
def test_modules_in_a_plain_container_belong_in_one_of_torch(blocks, container):
    model = guarded(Stack(blocks).to(META))
    part = blocks["a"] if isinstance(blocks, dict) else blocks[0]
    guarded(part)
    (advice,) = advice_of(model, torch.ones(2, 3, device=META))
    assert advice.startswith(f"write `self.blocks = nn.{container}(…)` in Stack.__init__")


def test_a_model_that_is_still_on_the_cpu_is_moved_itself():
    def train(data):
        device = torch.device(META)
        net = guarded(nn.Sequential(nn.Linear(3, 3)))
        net(data)
        return device

    assert advice_of(train, torch.ones(2, 3, device=META)) == [
        "write `net.to(device)` where it is made: all of it is on cpu"
    ]


def test_a_model_that_is_made_before_there_is_a_device_is_moved_where_it_is_used():
    def train(data):
        net = guarded(nn.Sequential(nn.Linear(3, 3)))
        device = torch.device(META)
        net(data)
        return device

    assert advice_of(train, torch.ones(2, 3, device=META)) == [
        f"write `net.to(device)` before {place('net(data)', train)}: all of it is on cpu"
    ]


class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x, y):
        return self.left(x) + self.right(y)


def test_a_batch_that_alone_is_not_on_the_cpu_comes_back():
    def by_what_is_given(net, data, other):
        net(other, data)

    def by_the_device(net, data):
        device = torch.device("cpu")
        net(data)
        return device

    data = torch.ones(2, 3, device=META)
    (advice,) = advice_of(by_what_is_given, guarded(Sum()), data, torch.ones(2, 3))
    assert advice.startswith("write `data = data.to(other.device)` before ")
    assert advice.endswith(": the model and all else here are on cpu")
    (advice,) = advice_of(by_the_device, guarded(nn.Linear(3, 3)), data)
    assert advice.startswith("write `data = data.to(device)` before ")


def test_a_model_is_moved_where_more_than_its_batch_is_on_the_accelerator():
    def by_the_target(net, data, other, target):
        net(other, data)

    def by_the_device(net, data, other):
        device = torch.device(META)
        net(other, data)
        return device

    def by_whole_numbers(net, data):
        net(data, torch.ones(2, dtype=torch.long))

    class Indexed(Sum):
        def forward(self, x, index):
            return self.left(x)[index]

    there, here = torch.ones(2, 3, device=META), torch.ones(2, 3)
    for advices in (
        advice_of(by_the_target, guarded(Sum()), there, here, there + 1),
        advice_of(by_the_device, guarded(Sum()), there, here),
        advice_of(by_whole_numbers, guarded(Indexed()), there),
    ):
        assert "write `net.to(" in advices[0]
        assert advices[0].endswith(": all of it is on cpu")


class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        return self.fc(x - self.mean)


@pytest.mark.parametrize(("rest", "alone"), [("cpu", META), (META, "cpu")])
def test_a_buffer_that_alone_is_elsewhere_is_moved_and_not_the_batch(rest, alone):
    def train(net, data):
        net(data)

    net = Shifted().to(rest)
    net.mean = torch.zeros(3, device=alone)
    (advice,) = advice_of(train, guarded(net), torch.ones(2, 3, device=rest))
    assert advice == (
        f"write `net.to(data.device)` before {place('    net(data)', train)}: "
        f"only buffer 'mean' of Shifted is on {alone}"
    )


def test_a_part_that_was_added_after_the_move_is_named():
    model = Stack(nn.ModuleList([nn.Linear(3, 3)]))
    model.stem.to(META)
    guarded(model)
    (advice,) = advice_of(model, torch.ones(2, 3, device=META))
    assert advice.endswith("after the last of its modules is made: blocks.0 is still on cpu")


def test_the_weights_of_a_loss_move_with_it():
    def train(logits, labels):
        criterion = guarded(nn.CrossEntropyLoss(weight=torch.ones(3)))
        criterion(logits, labels)

    logits = torch.ones(2, 3, device=META)
    for advice in advice_of(train, logits, torch.zeros(2, dtype=torch.long, device=META)):
        # Where it is made there may be no logits yet.
        assert advice.startswith("write `criterion.to(logits.device)` before ")


def test_the_target_of_a_loss_is_moved_where_it_is_used():
    def train(criterion, logits, labels):
        criterion(logits, labels)

    logits, labels = torch.ones(2, 3, device=META), torch.zeros(2, dtype=torch.long)
    (advice,) = advice_of(train, guarded(nn.CrossEntropyLoss()), logits, labels)
    assert advice.startswith("write `labels = labels.to(logits.device)` before ")


def test_a_trainers_loop_is_not_told_to_be_edited(tmp_path):
    loop = library(tmp_path, "def fit(model, batch):\n    return model(batch)\n")
    (advice,) = advice_of(lambda: loop.fit(linear(), torch.ones(2, 3)))
    assert advice.startswith("some_trainer calls the model with it, and has not moved it: move")


def test_objects_that_fail_when_they_are_looked_into_do_no_harm():
    class Hostile:
        def __len__(self):
            raise RuntimeError

        def __iter__(self):
            raise RuntimeError

        def __bool__(self):
            raise RuntimeError

        @property
        def device(self):
            raise RuntimeError

    def train(model, hostile, data):
        model(data)

    assert "`data = data.to(" in advice_of(train, linear(), Hostile(), torch.ones(2, 3))[0]


def test_without_any_frame_what_is_true_of_every_mismatch_is_said():
    fault = Fault("x", torch.ones(2, 3), torch.device(META), "parameter 'weight'")
    assert describe(fault, nn.Identity(), []).advice == "move it to meta, or create it there"
