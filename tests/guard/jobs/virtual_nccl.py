"""Ranks with a virtual GPU each, in a group of "nccl"; the argument names what they do."""

import os
import sys
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import runtime_guard

RANK = int(os.environ["RANK"])
DEVICE = torch.device("cuda", RANK)


def refused(kind, action):
    """The text with which an action is refused."""
    try:
        action()
    except kind as error:
        return str(error)
    raise AssertionError("nothing was refused")


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)).to(DEVICE)


def collectives():
    assert dist.get_backend() == "nccl"
    own = torch.full((2,), float(RANK + 1), device=DEVICE)
    dist.all_reduce(own)
    assert (own.tolist(), own.device) == ([3.0, 3.0], DEVICE)
    parts = [torch.zeros(2, device=DEVICE) for _ in range(2)]
    dist.all_gather(parts, own + RANK)
    assert [part.tolist() for part in parts] == [[3.0, 3.0], [4.0, 4.0]]
    whole = torch.zeros(4, device=DEVICE)
    dist.all_gather_into_tensor(whole, own, async_op=True).wait()
    assert (whole.sum().item(), whole.device) == (12.0, DEVICE)
    half = torch.zeros(2, device=DEVICE)
    dist.reduce_scatter_tensor(half, whole)
    assert half.tolist() == [6.0, 6.0]
    dist.broadcast(half, src=0)
    if RANK == 0:
        dist.send(half, dst=1)
    else:
        dist.recv(half, src=0)
    groups(half, parts)


def groups(half, parts):
    """Wait for each other, and use groups of other backends."""
    dist.barrier()
    dist.barrier(device_ids=[RANK])
    group = dist.new_group([0, 1])
    dist.all_reduce(half, group=group)
    assert dist.get_backend(group) == "nccl"
    objects()
    text = "No backend type associated with device type cpu"
    assert refused(RuntimeError, lambda: dist.all_reduce(torch.ones(2))) == text
    assert refused(RuntimeError, lambda: dist.all_gather(parts, torch.ones(2))) == text
    on_host = dist.new_group([0, 1], backend="gloo")
    counted = torch.ones(2)
    dist.all_reduce(counted, group=on_host)
    assert counted.tolist() == [2.0, 2.0]


def objects():
    """Send Python objects, with tensors among them."""
    sent = [{"w": torch.ones(2, device=DEVICE)} if RANK == 0 else {}]
    dist.broadcast_object_list(sent, src=0)
    assert str(sent[0]["w"].device) == "cuda:0"
    gathered = [None, None]
    dist.all_gather_object(gathered, RANK)
    assert gathered == [0, 1]


def ddp():
    text = refused(ValueError, lambda: DistributedDataParallel(nn.Linear(2, 2), device_ids=[RANK]))
    assert "DistributedDataParallel device_ids and output_device arguments only work with" in text
    module = net()
    model = DistributedDataParallel(module, device_ids=[RANK], output_device=RANK)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        loss = model(torch.full((3, 4), RANK + 1.0)).square().mean()
        assert loss.device == DEVICE
        optimizer.zero_grad()
        loss.backward()
        assert module[0].weight.grad.device == DEVICE
        optimizer.step()
    agreed(module)
    text = refused(RuntimeError, lambda: model(torch.ones(3, 4)).sub(torch.ones(3, 4)))
    assert text.startswith("Expected all tensors to be on the same device, but found at least two")
    plain = DistributedDataParallel(net(), gradient_as_bucket_view=True, static_graph=True)
    plain(torch.ones(3, 4, device=DEVICE)).sum().backward()
    with plain.no_sync():
        plain(torch.ones(3, 4, device=DEVICE)).sum().backward()
    assert plain.module[0].weight.grad.device == DEVICE


def agreed(module):
    """Find the same parameters on all ranks."""
    for parameter in module.parameters():
        others = [torch.zeros_like(parameter) for _ in range(2)]
        dist.all_gather(others, parameter.detach())
        assert torch.equal(*others)


def zero():
    from torch.distributed.optim import ZeroRedundancyOptimizer

    module = net()
    model = DistributedDataParallel(module, device_ids=[RANK])
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1)
    model(torch.ones(3, 4)).sum().backward()
    optimizer.step()
    agreed(module)


def synced():
    """Normalise over all ranks as one would over the joined batch."""
    torch.manual_seed(1)
    whole = torch.randn(6, 4, 3, device=DEVICE)
    alone = nn.BatchNorm1d(4).to(DEVICE)
    model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(4)).to(DEVICE)
    together = DistributedDataParallel(model, device_ids=[RANK])
    for module, batch in ((alone, whole), (together, whole[3 * RANK :][:3].clone())):
        batch.requires_grad_()
        out = module(batch)
        assert out.device == DEVICE
        out.square().sum(dim=(1, 2)).mul(torch.arange(len(batch), device=DEVICE)).sum().backward()
    assert torch.allclose(alone.running_var, model.running_var)
    own = slice(3 * RANK, 3 * RANK + 3)
    assert torch.allclose(alone(whole)[own], together(whole[own]), atol=1e-5)
    assert model.weight.grad.device == DEVICE


def fsdp2():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh("cuda", (2,))
    model = net()
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    fully_shard(model[0], mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(2):
        out = model(torch.ones(3, 4, device=DEVICE))
        assert out.device == DEVICE
        out.float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    weight = model[0].weight
    assert (weight.device, weight.to_local().device) == (DEVICE, DEVICE)
    assert weight.full_tensor().shape == (8, 4)
    checkpoint(model)


def checkpoint(model):
    """Save a sharded model and load it again."""
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import get_model_state_dict

    state = get_model_state_dict(model)
    dcp.save(state, checkpoint_id=Path.cwd() / "checkpoint")
    before = state["0.weight"].full_tensor().clone()
    with torch.no_grad():
        state["0.weight"].zero_()
    dcp.load(state, checkpoint_id=Path.cwd() / "checkpoint")
    assert torch.equal(state["0.weight"].full_tensor(), before)
    assert state["0.weight"].device == DEVICE


def fsdp1():
    from torch.distributed.fsdp import FullyShardedDataParallel

    model = FullyShardedDataParallel(net(), device_id=RANK)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(torch.ones(3, 4, device=DEVICE)).square().mean()
    loss.backward()
    optimizer.step()
    assert loss.device == DEVICE


def tensor_parallel():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    mesh = init_device_mesh("cuda", (2,))
    alone = net()
    expected = alone(torch.ones(3, 4, device=DEVICE))
    model = parallelize_module(net(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    out = model(torch.ones(3, 4, device=DEVICE))
    assert torch.allclose(out, expected)
    out.sum().backward()
    assert model[0].weight.grad.to_local().device == DEVICE
    whole = distribute_tensor(torch.arange(4.0), mesh, [Shard(0)])
    assert whole.device.type == "cuda"
    assert (whole + 1).full_tensor().tolist() == [1.0, 2.0, 3.0, 4.0]


def main(*names):
    # torch's own advice on what it will change.
    warnings.filterwarnings("ignore", category=FutureWarning)
    with runtime_guard.virtual_gpu(2):
        torch.cuda.set_device(RANK)
        dist.init_process_group(
            "nccl", init_method=os.environ["RENDEZVOUS"], rank=RANK, world_size=2, device_id=DEVICE
        )
        for name in names:
            globals()[name]()
            sys.stdout.write(f"{name} passed\n")
        dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
