"""What a message tells to write: the user's own variables, in the place where they are wrong."""

import dataclasses
import re
import types
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

from tests.guard.advised import META, advice_of, guarded, library, linear, place


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


@pytest.mark.parametrize(
    "call",
    [
        lambda model, batches: [model(images) for images in batches],
        lambda model, batches: max(batches, key=lambda images: model(images).sum()),
    ],
    ids=["comprehension", "lambda"],
)
def test_what_an_expression_binds_is_moved_where_it_is_used(call):
    (advice,) = advice_of(call, linear(), [torch.ones(2, 3)])
    assert advice.startswith("write `images.to(next(model.parameters()).device)` in place of")


class Stream:
    @property
    def images(self):
        return IMAGES


IMAGES = torch.ones(2, 3)


def test_what_cannot_be_assigned_to_because_it_is_computed_is_moved_where_it_is_used():
    def train(model, stream):
        model(stream.images)

    (advice,) = advice_of(train, linear(), Stream())
    assert advice == (
        "write `stream.images.to(next(model.parameters()).device)` in place of `stream.images` at "
        + place("model(stream", train)
    )


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


def test_a_method_does_not_bind_its_own_object_anew():
    class Count:
        def __init__(self):
            self.total = torch.zeros(3)

        def to(self, device):
            return self

        def update(self, model):
            model(self.total)

    (advice,) = advice_of(Count().update, linear())
    assert advice.startswith("write `self.total = self.total.to(")


def test_an_object_that_answers_to_every_name_cannot_move_itself():
    class Sums:
        def __init__(self):
            self.total = torch.zeros(3)

        def __getattr__(self, name):
            return lambda *arguments: (name, arguments)

    def train(model, sums):
        model(sums.total)

    (advice,) = advice_of(train, linear(), Sums())
    assert advice.startswith("write `sums.total = sums.total.to(")
