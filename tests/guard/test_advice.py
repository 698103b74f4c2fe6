"""What a message tells to write: the user's own variables, in the place where they are wrong."""

import dataclasses
import importlib.util
import inspect
import re
import types
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

from runtime_guard._explaining.describe import describe
from runtime_guard._explaining.frames import steps_of_traceback
from runtime_guard._judging.check import Fault, find_faults

META = "meta"


def place(text: str, function) -> str:
    """Where the first line of a function that has this text stands, as advice names it."""
    lines, first = inspect.getsourcelines(function)
    number = next(number for number, line in enumerate(lines, first) if text in line)
    return f"tests/guard/{__file__.rpartition('/')[2]}:{number}"


class Wrong(Exception):
    def __init__(self, module, faults):
        self.module, self.faults = module, faults


def refuse(module, args, kwargs):
    """A guard in short: what it found goes up as an exception, whose traceback is the stack."""
    faults = find_faults(module, args, kwargs, meta=True)
    if faults:
        raise Wrong(module, faults)


def guarded(model: nn.Module) -> nn.Module:
    for module in model.modules():
        module.register_forward_pre_hook(refuse, with_kwargs=True)
    return model


def advice_of(function, *args) -> list[str]:
    with pytest.raises(Wrong) as caught:
        function(*args)
    steps = steps_of_traceback(caught.value.__traceback__)[:-1]  # Without the guard's own.
    return [describe(fault, caught.value.module, steps).advice for fault in caught.value.faults]


def library(tmp_path, source: str) -> Any:
    folder = tmp_path / "site-packages" / "some_trainer"
    folder.mkdir(parents=True)
    file = folder / "loop.py"
    file.write_text(source)
    spec: Any = importlib.util.spec_from_file_location("loop", file)
    loop = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loop)
    return loop


def linear() -> nn.Module:
    return guarded(nn.Linear(3, 3).to(META))


def test_a_variable_is_moved_to_the_device_that_the_user_has_there():
    def train(model, loader):
        device = torch.device("meta")
        for data, _ in loader:
            model(data)
        return device

    assert advice_of(train, linear(), [(torch.ones(2, 3), 0)]) == [
        f"write `data = data.to(device)` before {place('model(data)', train)}"
    ]


def test_a_device_may_be_named_by_a_string_or_by_the_arguments_of_the_program():
    def by_string(model, data):
        my_device = "meta"
        model(data)
        return my_device

    def by_namespace(model, data, args):
        model(data)

    x = torch.ones(2, 3)
    assert "data.to(my_device)" in advice_of(by_string, linear(), x)[0]
    args = types.SimpleNamespace(device="meta")
    assert "data.to(args.device)" in advice_of(by_namespace, linear(), x, args)[0]


def test_a_string_that_names_another_device_or_none_is_not_taken_for_it():
    def train(net, data):
        device = "cpu"
        device_name = "gpu box"
        mode = "meta"
        net(data)
        return device, device_name, mode

    (advice,) = advice_of(train, linear(), torch.ones(2, 3))
    assert "data.to(next(net.parameters()).device)" in advice


def test_a_tensor_at_hand_tells_the_device_where_the_model_has_no_name():
    def train(models, data, state):
        models[0](data)

    assert (
        "data.to(state.device)"
        in advice_of(train, [linear()], torch.ones(2, 3), torch.ones(1, device=META))[0]
    )


def test_where_nothing_is_at_hand_the_device_is_written_out():
    def train(models, data):
        models[0](data)

    assert 'data.to("meta")' in advice_of(train, [linear()], torch.ones(2, 3))[0]


def test_a_lightning_like_module_knows_its_own_device(tmp_path):
    class Task(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 3)

        @property
        def device(self):
            return next(self.parameters()).device

        def training_step(self, batch):
            return self.net(batch)

    trainer = library(tmp_path, "def fit(task):\n    task.training_step(make())\n")
    trainer.make = lambda: torch.ones(2, 3)
    assert advice_of(trainer.fit, guarded(Task().to(META))) == [
        "write `batch = batch.to(self.device)` before "
        + place("return self.net(batch)", Task.training_step)
    ]


def test_what_lies_in_a_container_is_moved_inside_it_or_with_all_of_it():
    def one(model, batch):
        model(batch["x"])

    def whole(model, batch):
        model(batch["x"])

    def pair(model, batch):
        model(batch[0])

    def mixed(model, batch):
        model(batch[0])

    x = torch.ones(2, 3)
    assert 'batch["x"] = batch["x"].to(' in advice_of(one, linear(), {"x": x, "id": 1})[0]
    (advice,) = advice_of(whole, linear(), {"x": x, "y": x + 1})
    assert re.search(r"`batch = \{key: value.to\(.*\) for key, value in batch.items\(\)\}`", advice)
    (advice,) = advice_of(pair, linear(), (x, x + 1))
    assert re.search(r"`batch = tuple\(each.to\(.*\) for each in batch\)`", advice)
    (advice,) = advice_of(mixed, linear(), (x, "a name"))
    assert re.search(r"`batch = \(batch\[0\].to\(.*\), \*batch\[1:\]\)`", advice)


class Pair(NamedTuple):
    name: str
    x: torch.Tensor


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: torch.Tensor


@dataclasses.dataclass
class HalfMoved:
    """Its `to` has forgotten a field."""

    x: torch.Tensor
    y: torch.Tensor

    def to(self, device):
        return HalfMoved(self.x, self.y.to(device))


def test_a_batch_that_can_move_itself_does():
    @dataclasses.dataclass
    class Batch:
        x: torch.Tensor

        def to(self, device):
            return Batch(self.x.to(device))

    def train(model, batch):
        model(batch.x)

    assert "`batch = batch.to(" in advice_of(train, linear(), Batch(torch.ones(2, 3)))[0]


@pytest.mark.parametrize(
    ("batch", "statement"),
    [
        (Pair("a", torch.ones(2, 3)), "batch = batch._replace(x=batch.x.to("),
        (Frozen(torch.ones(2, 3)), "batch = dataclasses.replace(batch, x=batch.x.to("),
        (HalfMoved(torch.ones(2, 3), torch.ones(1, device=META)), "batch.x = batch.x.to("),
    ],
)
def test_what_cannot_be_assigned_to_is_replaced(batch, statement):
    def train(model, batch):
        model(batch.x)

    assert f"`{statement}" in advice_of(train, linear(), batch)[0]


@dataclasses.dataclass
class Forgetful:
    """Its `to` has forgotten the only field."""

    x: torch.Tensor

    def to(self, device):
        return self


def test_a_batch_whose_move_forgets_a_field_is_moved_by_the_field():
    def train(model, loader):
        device = torch.device(META)
        batch = next(iter(loader))
        batch = batch.to(device)
        model(batch.x)

    def evaluate(model, batch, loader):
        device = torch.device(META)
        batch = batch.to(device)
        for batch in loader:
            model(batch.x)
        return device

    batch = Forgetful(torch.ones(2, 3))
    assert "write `batch.x = batch.x.to(device)` before" in advice_of(train, linear(), [batch])[0]
    assert (
        "write `batch = batch.to(device)` before"
        in (advice_of(evaluate, linear(), batch, [batch])[0])
    )


class Nested(NamedTuple):
    pair: tuple[torch.Tensor, str]


@pytest.mark.parametrize(
    ("path", "batch"),
    [
        ('["labels"][0]', {"labels": (torch.ones(2, 3), torch.ones(2, 3)), "id": 3}),
        ('["labels"][0]', {"labels": (torch.ones(2, 3), "a name")}),
        ("[0][0]", ((torch.ones(2, 3), 1), {"x": 1})),
        ('[1]["x"][1]', (1, {"x": (1, torch.ones(2, 3))})),
        ("[1][0]", (1, [torch.ones(2, 3), torch.ones(2, 3)])),
        (".pair[0]", Nested((torch.ones(2, 3), "a name"))),
        ("[0].x", (Frozen(torch.ones(2, 3)), 1)),
        ("[1]", Pair("a name", torch.ones(2, 3))),
    ],
)
def test_what_is_advised_can_be_run_and_leaves_the_types_as_they_are(path, batch):
    scope: dict[str, Any] = {"batch": batch, "dataclasses": dataclasses, "model": linear()}
    line = compile(f"model(batch{path})", "<line>", "exec")
    (advice,) = advice_of(exec, line, scope)
    statement = advice.partition("`")[2].partition("`")[0]
    shape = shape_of(batch)
    exec(statement, scope)
    assert shape_of(scope["batch"]) == shape
    exec(line, scope)


def shape_of(value: object) -> object:
    """The types of a value, all the way down."""
    parts: Any = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list, tuple)):
        return type(value), [shape_of(part) for part in parts]
    return type(value)


def test_what_the_line_does_not_name_is_not_told_to_be_moved():
    def train(model, samples, fetch):
        device = torch.device(META)
        model(fetch())
        return device

    x = torch.ones(2, 3)
    (advice,) = advice_of(train, linear(), [x], lambda: x)
    assert advice.startswith("write `.to(device)` behind what the model is given at ")


def test_a_call_over_several_lines_names_what_it_is_given():
    def train(model, images):
        model(
            images,
        )

    assert "`images = images.to(" in advice_of(train, linear(), torch.ones(2, 3))[0]


def test_what_is_passed_may_be_computed_from_what_the_line_names():
    def train(model, rows):
        model(rows[:, 1:].flatten().view(-1, 3))

    assert "`rows = rows.to(" in advice_of(train, linear(), torch.ones(3, 3))[0]


def test_of_two_names_the_one_on_the_line_is_told():
    def train(model, x):
        target = x
        model(target)

    assert "`target = target.to(" in advice_of(train, linear(), torch.ones(3, 3))[0]


def test_an_attribute_of_a_plain_object_is_named():
    def train(model, samples):
        model(samples.x)

    samples = types.SimpleNamespace(x=torch.ones(2, 3))
    assert "`samples.x = samples.x.to(" in advice_of(train, linear(), samples)[0]


def test_what_is_passed_without_a_name_is_moved_at_the_call():
    def train(model, fetch):
        device = torch.device(META)
        model(fetch())
        return device

    assert advice_of(train, linear(), lambda: torch.ones(2, 3)) == [
        f"write `.to(device)` behind what the model is given at {place('model(fetch())', train)}"
    ]


def test_a_view_leads_back_to_the_variable_it_is_of():
    class Flat(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(6, 3)

        def forward(self, x):
            return self.linear(x.view(-1, 6))

    def train(model, images):
        model(images)

    (advice,) = advice_of(train, guarded(Flat().to(META)), torch.ones(2, 3))
    assert advice.startswith("write `images = images.to(")
    assert advice.endswith(place("model(images)", train))


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
        net = guarded(nn.Sequential(nn.Linear(3, 3)))
        device = torch.device(META)
        net(data)
        return device

    assert advice_of(train, torch.ones(2, 3, device=META)) == [
        "write `net.to(device)` where it is made: all of it is on cpu"
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
        assert advices[0].endswith("where it is made: all of it is on cpu")


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
        "write `net.to(data.device)` after the last of its tensors is assigned: "
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
        assert advice.startswith("write `criterion.to(logits.device)` where it is made")


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
