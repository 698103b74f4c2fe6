"""What a module may be given: the rules by which `find_faults` judges a call."""

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence

from runtime_guard.check.verdict import find_faults, fits, is_worth_checking

HERE = torch.zeros(2, 4)
THERE = torch.zeros(2, 4, device="meta")


def faults(module, *args, **kwargs):
    """The faults of a call, as `argument: device, not device of anchor`."""
    found = find_faults(module, args, kwargs, meta=True)
    assert not (found and fits(module, args, kwargs)), "a fault that the quick check lets pass"
    return [
        f"{fault.argument}: {fault.tensor.device}, not {fault.expected} of {fault.anchor}"
        for fault in found
    ]


class Owner(nn.Module):
    def __init__(self, device="meta"):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4, device=device))


class Scaled(Owner):
    """A user's module with a parameter, whose forward takes what it is given as it is."""

    def forward(self, batch, *rest, mask=None, **more):
        return batch


Pair = namedtuple("Pair", ["left", "right"])


@dataclass
class Example:
    image: Any
    label: Any = None


class Encoding(Mapping[str, Any]):
    """A mapping that is no dictionary, as tokenizers return."""

    def __init__(self, **data):
        self.data = data

    def __getitem__(self, key):
        return self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)


class Graph:
    """Named values that are no `Mapping`, as libraries for graphs have them."""

    def __init__(self, **data):
        self.data = data

    def keys(self):
        return list(self.data)

    def __getitem__(self, key):
        return self.data[key]

    def to(self, device):
        return self


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (HERE, "batch"),
        ([THERE, HERE], "batch[1]"),
        ((THERE, (THERE, [HERE])), "batch[1][1][0]"),
        ({"x": THERE, "mask": [HERE]}, 'batch["mask"][0]'),
        ({3: HERE}, "batch[3]"),
        (Pair(THERE, HERE), "batch.right"),
        (Example(HERE), "batch.image"),
        (Encoding(input_ids=THERE, bias=HERE), 'batch["bias"]'),
        (Graph(x=HERE), 'batch["x"]'),
        (pack_sequence([torch.zeros(2, 4)]), "batch.data"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_tensor_is_found_wherever_it_is_nested(value, path):
    assert faults(Scaled(), value) == [f"{path}: cpu, not meta of parameter 'scale'"]


def test_arguments_are_named_as_the_forward_names_them():
    fault = "cpu, not meta of parameter 'scale'"
    assert faults(Scaled(), THERE, THERE, HERE) == [f"rest[1]: {fault}"]
    assert faults(Scaled(), THERE, mask=HERE) == [f"mask: {fault}"]
    assert faults(Scaled(), THERE, bias=HERE) == [f"bias: {fault}"]


def test_a_value_that_holds_itself_ends():
    batch: list[Any] = [HERE]
    batch.append(batch)
    assert fits(Scaled("cpu"), (batch,), {})
    assert fits(Scaled("cpu"), ({"again": batch},), {"more": (batch,)})
    assert faults(Scaled("cpu"), batch) == []
    assert faults(Scaled(), batch)[0] == "batch[0]: cpu, not meta of parameter 'scale'"


def test_a_mapping_that_fails_does_not_fail_the_run():
    class Broken(Graph):
        def __getitem__(self, key):
            raise RuntimeError("computed on demand")

    assert faults(Scaled(), Broken(x=HERE)) == []


def test_a_zero_dim_cpu_tensor_mixes_and_a_one_element_vector_does_not():
    assert faults(Scaled(), torch.tensor(1.0)) == []
    assert faults(Scaled(), torch.tensor([1.0])) != []


def test_a_zero_dim_tensor_of_an_accelerator_does_not_mix_with_a_module_on_the_cpu():
    assert faults(Scaled("cpu"), torch.tensor(1.0, device="meta")) != []


def test_indices_and_lengths_of_a_users_module_may_stay_on_the_cpu():
    lengths = torch.tensor([2, 1])
    assert faults(Scaled(), THERE, lengths) == []
    assert faults(Scaled(), THERE, lengths > 1) == []
    assert faults(Scaled(), THERE, lengths.float()) != []
    assert faults(Scaled("cpu"), HERE, lengths.to("meta")) != []


def test_embedding_takes_its_indices_from_its_own_device_alone():
    embedding = nn.Embedding(4, 2, device="meta")
    index = torch.tensor([1, 2])
    assert faults(embedding, index) == ["input: cpu, not meta of parameter 'weight'"]
    assert faults(embedding, index.to("meta")) == []


def test_batch_sizes_of_a_packed_sequence_stay_on_the_cpu():
    lstm = nn.LSTM(4, 2, device="meta")
    packed = pack_sequence([torch.zeros(2, 4, device="meta")])
    assert packed.batch_sizes.device.type == "cpu"
    assert faults(lstm, packed) == []
    state = (torch.zeros(1, 1, 2), torch.zeros(1, 1, 2, device="meta"))
    assert faults(lstm, packed, state) == ["hx[0]: cpu, not meta of parameter 'weight_ih_l0'"]


def test_the_arguments_of_a_loss_agree_with_each_other():
    loss = nn.MSELoss()
    assert faults(loss, HERE, HERE) == []
    assert faults(loss, THERE, HERE) == ["target: cpu, not meta of argument 'input'"]
    assert faults(loss, HERE, THERE) == ["input: cpu, not meta of argument 'target'"]


def test_a_target_of_classes_is_no_index_for_a_loss_of_torch():
    target = torch.tensor([0, 1])
    assert faults(nn.CrossEntropyLoss(), THERE, target) != []
    weighted = nn.CrossEntropyLoss(weight=torch.ones(4))
    assert faults(weighted, THERE, target.to("meta")) == [
        "input: meta, not cpu of buffer 'weight'",
        "target: meta, not cpu of buffer 'weight'",
    ]


def test_ctc_reads_lengths_and_targets_on_the_host():
    lengths = torch.tensor([2])
    log_probabilities = torch.zeros(2, 1, 3, device="meta")
    assert faults(nn.CTCLoss(), log_probabilities, torch.tensor([[1]]), lengths, lengths) == []
    assert faults(nn.GaussianNLLLoss(), THERE, THERE, HERE) != []


def test_a_causal_mask_that_attention_drops_may_stay_on_the_cpu():
    attention = nn.MultiheadAttention(4, 2, device="meta")
    mask = nn.Transformer.generate_square_subsequent_mask(2)
    arguments = {"query": THERE, "key": THERE, "value": THERE, "attn_mask": mask}
    dropped = faults(attention, **arguments, is_causal=True, need_weights=False)
    assert dropped == []
    fault = ["attn_mask: cpu, not meta of parameter 'in_proj_weight'"]
    assert faults(attention, **arguments, is_causal=True) == fault
    assert faults(attention, **arguments, need_weights=False) == fault


def test_identity_looks_at_its_first_argument_alone():
    assert faults(nn.Identity(), THERE, HERE) == []
    assert faults(nn.PairwiseDistance(), THERE, HERE) != []


def test_a_module_across_devices_takes_arguments_from_each():
    module = Scaled()
    module.shift = nn.Parameter(torch.zeros(4))
    assert faults(module, THERE, HERE) == []
    del module.shift
    assert faults(module, THERE, HERE) != []


def test_a_module_is_not_where_its_scalars_and_index_buffers_are():
    module = Scaled()
    del module.scale
    module.temperature = nn.Parameter(torch.tensor(0.07))
    module.register_buffer("order", torch.tensor([1, 0]))
    assert faults(module, THERE) == []
    module.register_buffer("mean", torch.zeros(4))
    assert faults(module, THERE) == ["batch: meta, not cpu of buffer 'mean'"]


def test_a_container_without_tensors_leaves_the_judgement_to_its_parts():
    class Root(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = Scaled()

        def forward(self, left, right):
            return self.part(left)

    assert faults(Root(), THERE, HERE) == []
    assert not is_worth_checking(Root())
    assert is_worth_checking(Root().part)


def test_the_parameters_in_a_list_are_those_of_its_owner():
    for held in (nn.ParameterList, nn.ParameterDict):
        module = Scaled()
        del module.scale
        keys: Any = {"0": nn.Parameter(torch.ones(4, device="meta"))}
        module.scales = held(keys if held is nn.ParameterDict else keys.values())
        assert is_worth_checking(module)
        assert faults(module, THERE) == []
        assert faults(module, HERE) == ["batch: cpu, not meta of parameter 'scales.0'"]


def test_modules_whose_kernels_look_at_every_device_take_no_scalar_from_the_cpu():
    embedding = nn.Embedding(4, 2, device="meta")
    scalar = torch.tensor(1, device="meta")
    assert faults(embedding, torch.tensor(1)) == ["input: cpu, not meta of parameter 'weight'"]
    assert faults(nn.CrossEntropyLoss(), THERE[0], torch.tensor(1)) != []
    assert faults(nn.CrossEntropyLoss(), THERE[0], scalar) == []
    assert faults(nn.MSELoss(), THERE, torch.tensor(1.0)) == []


def test_what_another_library_moves_is_left_to_it():
    module = Scaled()
    assert faults(module, HERE) != []
    module._hf_hook = object()
    assert faults(module, HERE) == []


def test_weights_on_meta_are_judged_where_that_is_asked_for():
    assert find_faults(Scaled(), (HERE,), {}) == ()
    assert find_faults(Scaled("cpu"), (THERE,), {}) == ()
    assert len(find_faults(Scaled(), (HERE,), {}, meta=True)) == 1


def test_a_replica_is_where_its_former_parameters_are():
    module = Scaled()
    replica = module._replicate_for_data_parallel()
    # What `torch.nn.parallel.replicate` does with the copies that it makes of the parameters.
    replica.scale = module.scale * 1
    replica._former_parameters = {"scale": replica.scale}
    assert not replica._parameters
    assert faults(replica, HERE) == ["batch: cpu, not meta of parameter 'scale'"]
    assert faults(replica, THERE) == []


def test_activations_of_one_argument_cannot_be_wrong_and_are_not_checked():
    assert not is_worth_checking(nn.ReLU())
    assert not is_worth_checking(nn.Sequential(nn.Linear(1, 1)))
    assert is_worth_checking(nn.BCELoss())
    assert is_worth_checking(nn.BatchNorm1d(2, affine=False))
