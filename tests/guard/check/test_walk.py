"""Values with some of their tensors replaced: containers are copied, never written to."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from runtime_guard.check.walk import tensors_in, with_replaced

HERE, THERE = torch.zeros(2), torch.ones(2)
Pair = namedtuple("Pair", ["left", "right"])


@dataclass(frozen=True)
class Example:
    image: Any
    name: str = "one"


@pytest.mark.parametrize(
    "value",
    [
        HERE,
        [HERE, 1, "x"],
        (HERE, [HERE, None]),
        {"x": HERE, "inner": {"y": (HERE,)}},
        OrderedDict(a=HERE),
        Pair(HERE, 2),
        Example(HERE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_tensor_is_replaced_and_the_original_is_as_it_was(value):
    before = [path for path, _ in tensors_in(value, "value")]
    moved = with_replaced(value, lambda tensor: THERE)
    assert type(moved) is type(value)
    assert [path for path, _ in tensors_in(moved, "value")] == before
    assert all(tensor is THERE for _, tensor in tensors_in(moved, "value"))
    assert all(tensor is HERE for _, tensor in tensors_in(value, "value"))


def test_a_value_in_which_nothing_changes_is_the_same_object():
    value = {"x": [HERE, Pair(HERE, 1)]}
    assert with_replaced(value, lambda tensor: tensor) is value


def test_a_packed_sequence_is_moved_whole():
    packed = pack_sequence([torch.zeros(2, 3)])

    def to_meta(tensor: Tensor) -> Tensor:
        return tensor.to("meta")

    moved = with_replaced([packed], to_meta)[0]
    assert isinstance(moved, PackedSequence)
    assert (moved.data.device.type, moved.batch_sizes.device.type) == ("meta", "cpu")
