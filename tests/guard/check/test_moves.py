"""A module that moves what it is given may be given it from anywhere: how a move is seen."""

from functools import wraps
from typing import Any

import torch
from torch import nn
from torchmetrics import MeanSquaredError

import runtime_guard
from runtime_guard.check.verdict import find_faults

HERE = torch.zeros(2, 4)
THERE = torch.zeros(2, 4, device="meta")


def faults(module: nn.Module, *args: Any) -> list[str]:
    return [fault.argument for fault in find_faults(module, args, {}, meta=True)]


class Owner(nn.Module):
    def __init__(self, device="meta"):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4, device=device))


def test_a_forward_that_moves_its_arguments_may_be_given_them_from_anywhere():
    class Moving(Owner):
        def forward(self, batch):
            return self._here(batch)

        def _here(self, batch):
            return batch.to(self.scale.device)

    class Reading(Owner):
        def forward(self, batch):
            return self._there(batch)

        def _there(self, batch):
            return batch + torch.zeros(4, device=batch.device)

    assert faults(Moving(), HERE) == []
    assert faults(Reading(), HERE) != []


def relocate(value):
    return value.to("meta")


def test_a_layer_named_like_a_function_that_moves_is_no_move():
    class Calling(Owner):
        def forward(self, batch):
            return relocate(batch)

    class Naming(Owner):
        def __init__(self):
            super().__init__()
            self.relocate = nn.Identity()

        def forward(self, batch):
            return self.relocate(batch)

    assert faults(Calling(), HERE) == []
    assert faults(Naming(), HERE) != []


def moving(forward):
    @wraps(forward)
    def moved(self, batch):
        return forward(self, batch.to(self.scale.device))

    return moved


def moving_unnamed(forward):
    return lambda self, batch: forward(self, batch.to(self.scale.device))


def passing(forward):
    return lambda self, batch: forward(self, batch + 0)


class Base(Owner):
    def forward(self, batch):
        return batch.to(self.scale.device) * self.scale


class Bringing(nn.Module):
    def forward(self, batch, device):
        return batch.to(device)


class Halving(nn.Module):
    def forward(self, batch, device):
        return batch / 2


class Tools:
    @staticmethod
    def bring(batch):
        return batch.to("meta")


def forward_of(function):
    return type("Decorated", (Owner,), {"forward": function})()


def multiply(self, batch):
    return batch * self.scale


def test_a_move_is_seen_in_a_decorator_and_behind_one():
    assert faults(forward_of(moving(multiply)), HERE) == []
    assert faults(forward_of(moving_unnamed(multiply)), HERE) == []
    assert faults(forward_of(passing(passing(Base.forward))), HERE) == []
    assert faults(forward_of(torch.no_grad()(Base.forward)), HERE) == []
    assert faults(forward_of(passing(multiply)), HERE) != []
    assert faults(forward_of(torch.no_grad()(multiply)), HERE) != []


def test_a_move_is_seen_in_the_forward_of_a_base_class_where_that_is_called():
    class Calling(Base):
        def forward(self, batch):
            return super().forward(batch) * 2

    class Replacing(Base):
        def forward(self, batch):
            return batch * self.scale

    assert faults(Calling(), HERE) == []
    assert faults(Replacing(), HERE) != []


def test_a_move_is_seen_in_a_layer_that_the_forward_calls():
    class Prepared(Owner):
        def __init__(self, prepare):
            super().__init__()
            self.prepare = prepare

        def forward(self, batch):
            return self.prepare(batch, self.scale.device) * self.scale

    class Other(Prepared):
        def forward(self, batch):
            return batch * self.scale

    assert faults(Prepared(Bringing()), HERE) == []
    assert faults(Prepared(Halving()), HERE) != []
    assert faults(Other(Bringing()), HERE) != []


def test_a_move_is_seen_in_a_function_of_a_class_and_in_one_that_the_module_holds():
    class Using(Owner):
        def forward(self, batch):
            return Tools.bring(batch) * self.scale

    class Holding(Owner):
        def __init__(self, bring):
            super().__init__()
            self.bring = bring

        def forward(self, batch):
            return self.bring(batch) * self.scale

    assert faults(Using(), HERE) == []
    assert faults(Holding(relocate), HERE) == []
    assert faults(Holding(abs), HERE) != []


def test_a_module_on_the_cpu_may_bring_its_arguments_there_and_another_may_not():
    class Collecting(Owner):
        def forward(self, batch):
            return batch.cpu() * self.scale

    assert faults(Collecting("cpu"), THERE) == []
    assert faults(Collecting(), HERE) != []


def test_copying_into_a_tensor_of_its_own_moves_as_well():
    class Static(Owner):
        def forward(self, batch):
            return torch.empty(batch.shape, device=self.scale.device).copy_(batch)

    assert faults(Static(), HERE) == []


def test_a_decorated_module_that_moves_compiles_whole_under_each_guard():
    module = forward_of(moving(multiply))
    for handle in (runtime_guard.guard(module, meta=True), runtime_guard.install(meta=True)):
        torch.compiler.reset()
        with handle:
            run = torch.compile(module, backend="eager", fullgraph=True)
            assert run(HERE).device.type == "meta"


def test_a_metric_that_moves_its_states_moves_no_arguments():
    assert faults(MeanSquaredError(), THERE, HERE) == ["args[1]"]
    assert faults(MeanSquaredError(), THERE, THERE) == []
