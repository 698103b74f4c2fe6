"""What makes the host wait for the device, as `torch.cuda.set_sync_debug_mode` finds it."""

import warnings

import pytest
import torch

from tests.guard.leaves import GPU, OTHER

pytestmark = pytest.mark.virtual_gpu(2)

TEXT = "called a synchronizing CUDA operation"


@pytest.fixture
def debug():
    def begin(mode):
        torch.cuda.set_sync_debug_mode(mode)

    yield begin
    torch.cuda.set_sync_debug_mode("default")


def there(*shape):
    return torch.ones(*shape, device=GPU)


WAITING = {
    "item": lambda x: x.sum().item(),
    "tolist": lambda x: x.tolist(),
    "float": lambda x: float(x.sum()),
    "a condition": lambda x: bool(x.sum() > 0),
    "nonzero": lambda x: x.nonzero(),
    "torch.nonzero": torch.nonzero,
    "masked_select": lambda x: x.masked_select(x > 0),
    "a mask": lambda x: x[x > 0],
    "torch.where of one": lambda x: torch.where(x > 0),
    "unique": lambda x: x.unique(),
    "equal": lambda x: torch.equal(x, x),
    "cpu": lambda x: x.cpu(),
    "to the CPU": lambda x: x.to("cpu"),
    "to the device": lambda x: torch.ones(2).to(GPU),
    "cuda": lambda x: torch.ones(2).cuda(),
    "copy_": lambda x: x.copy_(torch.ones(4)),
    "data of the host": lambda x: torch.tensor([1.0], device=GPU),
    "a stream": lambda x: torch.cuda.current_stream().synchronize(),
}

GOING_ON = {
    "arithmetic": lambda x: (x * 2 + x).sum(),
    "a number": lambda x: x * torch.tensor(2.0),
    "an index": lambda x: x[1:],
    "a number where a mask is true": lambda x: x.masked_fill_(x > 0, 1.0),
    "a number put by a mask": lambda x: x.__setitem__(x > 1, 0.0),
    "a move that does not block": lambda x: torch.ones(2).to(GPU, non_blocking=True),
    "cuda that does not block": lambda x: torch.ones(2).cuda(non_blocking=True),
    "a read that does not block": lambda x: x.to("cpu", non_blocking=True),
    "to another device": lambda x: x.to(OTHER),
    "where it lies": lambda x: x.to(GPU),
    "another dtype": lambda x: x.to(torch.float64),
    "a tensor made there": lambda x: torch.zeros(3, device=GPU),
    "a tensor of the CPU": lambda x: torch.ones(2).sum().item(),
    "a shape": lambda x: x.shape[0],
}


@pytest.mark.parametrize("do", WAITING.values(), ids=WAITING)
def test_what_waits_is_refused(debug, do):
    given = there(4)
    debug("error")
    with pytest.raises(RuntimeError, match=TEXT):
        do(given)


@pytest.mark.parametrize("do", GOING_ON.values(), ids=GOING_ON)
def test_what_does_not_wait_passes(debug, do):
    given = there(4)
    debug("error")
    do(given)


def test_it_is_warned_of_where_it_is_called(debug):
    given = there(4)
    debug("warn")
    with pytest.warns(UserWarning, match=TEXT) as caught:
        given.sum().item()
    assert [warning.filename for warning in caught] == [__file__]


def test_nothing_is_said_by_default(debug):
    debug("warn")
    assert torch.cuda.get_sync_debug_mode() == 1
    debug("default")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there(4).sum().item()
