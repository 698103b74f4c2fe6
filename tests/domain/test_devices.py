"""Devices: how they are spelled, when they agree, and what two paths make of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devicelint.domain.devices import (
    CPU,
    ON_HOST,
    Agreement,
    Device,
    DeviceOf,
    InvalidDevice,
    Known,
    Opaque,
    Unsure,
    agreement,
    is_accelerator,
    join_devices,
    parse_device,
)

DEVICES: st.SearchStrategy[Device] = st.one_of(
    st.builds(Known, st.sampled_from(["cpu", "cuda", "mps"]), st.sampled_from([None, 0, 1])),
    st.builds(Opaque, st.sampled_from(["args.device", "device"])),
    st.builds(DeviceOf, st.sampled_from(["x", "self"])),
    st.builds(Unsure, st.just("a reason")),
)


@pytest.mark.parametrize(
    ("text", "device"),
    [("cpu", Known("cpu")), ("cuda", Known("cuda")), ("cuda:1", Known("cuda", 1))],
)
def test_a_spelling_names_a_device(text, device):
    assert parse_device(text) == device
    assert str(device) == text


@pytest.mark.parametrize("text", ["gpu", "cuda: 0", "cuda:", "cuda:-1", "cuda:01", "CUDA", "", "0"])
def test_what_torch_refuses_is_refused(text):
    with pytest.raises(InvalidDevice):
        parse_device(text)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Known("cpu"), Known("cuda"), Agreement.DIFFERENT),
        (Known("cuda", 0), Known("cuda", 1), Agreement.DIFFERENT),
        (Known("cuda"), Known("cuda", 0), Agreement.UNKNOWN),
        (Known("cpu"), Known("cpu", 0), Agreement.SAME),
        (Known("meta"), Known("cpu"), Agreement.UNKNOWN),
        (CPU, Opaque("args.device"), Agreement.DIFFERENT_UNLESS_CHOSEN),
        (CPU, DeviceOf("x"), Agreement.DIFFERENT_UNLESS_CHOSEN),
        (CPU, DeviceOf("f(x)", frozenset({"x"})), Agreement.DIFFERENT_UNLESS_CHOSEN),
        (CPU, DeviceOf("f(x)", frozenset()), Agreement.DIFFERENT_UNLESS_CHOSEN),
        (CPU, DeviceOf("f(x)", ON_HOST), Agreement.UNKNOWN),
        (Known("cuda"), Opaque("args.device"), Agreement.UNKNOWN),
        (Known("cuda", 0), Opaque("args.device"), Agreement.UNKNOWN),
        (Known("cuda", 1), Opaque("args.device"), Agreement.DIFFERENT_UNLESS_CHOSEN),
        (Opaque("args.device"), Opaque("device"), Agreement.UNKNOWN),
        (Opaque("device"), Opaque("device"), Agreement.SAME),
        (Unsure("a"), CPU, Agreement.UNKNOWN),
        (Unsure("a"), Unsure("a"), Agreement.UNKNOWN),
    ],
)
def test_when_devices_agree(one, other, expected):
    assert agreement(one, other) is expected


@given(DEVICES, DEVICES)
def test_agreement_is_mutual(one, other):
    assert agreement(one, other) is agreement(other, one)


@given(DEVICES, DEVICES, DEVICES)
def test_devices_form_a_lattice(one, other, third):
    assert join_devices(one, one) == one
    assert join_devices(one, other) == join_devices(other, one)
    left = join_devices(join_devices(one, other), third)
    assert left == join_devices(one, join_devices(other, third))


@given(DEVICES, DEVICES, DEVICES)
def test_a_join_claims_no_more_than_either_path(one, other, third):
    """What differs for sure from the join differs for sure from both paths."""
    if agreement(join_devices(one, other), third) is Agreement.DIFFERENT:
        assert agreement(one, third) is Agreement.DIFFERENT
        assert agreement(other, third) is Agreement.DIFFERENT


def test_the_hosts_memory_is_no_accelerator():
    assert not is_accelerator(CPU)
    assert not is_accelerator(Known("meta"))
    assert not is_accelerator(Opaque("args.device"))
    assert is_accelerator(Known("mps"))
