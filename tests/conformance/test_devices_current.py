"""Several devices: which one is current."""

import pytest
import torch

from tests.conformance.given import GPU, SECOND, gpu
from tests.conformance.texts import refused

pytestmark = pytest.mark.usefixtures("two_devices")


@pytest.fixture(autouse=True)
def _first():
    yield
    torch.cuda.set_device(0)


def made():
    return torch.zeros(1, device="cuda").device


def test_the_first_is_current_at_first():
    assert (torch.cuda.current_device(), made()) == (0, GPU)


@pytest.mark.parametrize("device", [1, "cuda:1", SECOND])
def test_another_is_made_current(device):
    torch.cuda.set_device(device)
    assert (torch.cuda.current_device(), made()) == (1, SECOND)


@pytest.mark.parametrize("device", [1, "cuda:1", SECOND])
def test_another_is_current_in_a_context(device):
    with torch.cuda.device(device):
        assert (torch.cuda.current_device(), made()) == (1, SECOND)
    assert torch.cuda.current_device() == 0


def test_contexts_nest():
    with torch.cuda.device(1), torch.cuda.device(0):
        assert made() == GPU
    with torch.cuda.device(1):
        with torch.cuda.device(0):
            pass
        assert made() == SECOND


def test_the_context_of_a_tensor():
    with torch.cuda.device_of(gpu(1, on=SECOND)):
        assert made() == SECOND
    with torch.cuda.device_of(torch.zeros(1)):
        assert made() == GPU


def test_a_negative_device_changes_nothing():
    with torch.cuda.device(-1):
        assert torch.cuda.current_device() == 0


def test_none_changes_nothing():
    with torch.cuda.device(None):
        assert torch.cuda.current_device() == 0


def test_an_error_ends_a_context():
    with pytest.raises(ValueError, match="inside"), torch.cuda.device(1):
        raise ValueError("inside")
    assert torch.cuda.current_device() == 0


def test_a_bare_call_of_the_context_changes_nothing():
    torch.cuda.device(1)
    assert torch.cuda.current_device() == 0


def test_there_is_no_hundredth():
    refused(lambda: torch.cuda.set_device(99), "invalid device ordinal")


def test_the_default_device_context_is_another_thing():
    with torch.device("cuda:1"):
        assert (torch.cuda.current_device(), torch.zeros(1).device) == (0, SECOND)


def test_a_default_device_without_an_index_follows():
    with torch.device("cuda"), torch.cuda.device(1):
        assert torch.zeros(1).device == SECOND


def test_streams_belong_to_devices():
    assert torch.cuda.current_stream(1).device == SECOND
    assert torch.cuda.Stream(device=1).device == SECOND


def test_generators_belong_to_devices():
    assert len(torch.cuda.default_generators) >= 2
    assert torch.Generator(device="cuda:1").device == SECOND


def test_peers():
    assert isinstance(torch.cuda.can_device_access_peer(0, 1), bool)
