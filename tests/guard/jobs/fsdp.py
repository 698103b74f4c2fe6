"""Trains under FSDP2, guarded before or after it is sharded; see `misplace` for what is wrong."""

import sys

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import runtime_guard
from tests.guard.jobs.models import Net, start, train


def shard(net):
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for block in net.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(net, mesh=mesh)


def main(guarded="after", wrong="nothing"):
    start()
    net = Net()
    if guarded == "after":
        shard(net)
    with runtime_guard.guard(net, meta=True):
        if guarded == "before":
            shard(net)
        train(net, net, wrong)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
